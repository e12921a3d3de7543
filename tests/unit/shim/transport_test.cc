// The pure parts of the transport.
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "client/cpp/base/spsc_ring.h"
#include "client/cpp/base/text.h"
#include "client/cpp/transport/backoff.h"
#include "client/cpp/transport/frame_reader.h"
#include "client/cpp/transport/mailbox.h"
#include "client/cpp/transport/send_queue.h"
#include "client/cpp/transport/socket_search.h"

namespace blazed::shim {
namespace {

LinkState StateOf(LinkStage stage, uint64_t generation) {
  LinkState state;
  state.stage = stage;
  state.generation = generation;
  return state;
}

Outgoing Answer(uint64_t generation, const std::string& body) {
  return {OutgoingKind::kAnswer, generation, body, {}};
}
Outgoing Description(const std::string& body) { return {OutgoingKind::kDescription, 0, body, {}}; }
Outgoing Window(uint64_t generation) {
  return {OutgoingKind::kWindow, generation, "", {1, 2, 3, 4}};
}

std::vector<std::string> Drain(SendQueue& queue) {
  std::vector<std::string> bodies;
  std::string body;
  while (queue.Next(body)) bodies.push_back(body);
  return bodies;
}

using Bodies = std::vector<std::string>;

TEST(SendQueue, DescriptionsWaitForTheWelcomeAndGoOnEveryStream) {
  SendQueue queue;
  queue.Add(Description("graph"));
  queue.Add(Description("workload"));
  EXPECT_TRUE(queue.empty());
  queue.OnWelcome(1);
  EXPECT_EQ(Drain(queue), (Bodies{"graph", "workload"}));
  queue.OnWelcome(1);
  EXPECT_EQ(Drain(queue), (Bodies{"graph", "workload"}));
}

TEST(SendQueue, ADescriptionAfterTheWelcomeGoesAtOnce) {
  SendQueue queue;
  queue.OnWelcome(1);
  queue.Add(Description("graph"));
  EXPECT_EQ(Drain(queue), Bodies{"graph"});
}

TEST(SendQueue, AResumedStreamGetsKeptAnswersBeforeWaitingOnes) {
  SendQueue queue;
  queue.OnWelcome(1);
  queue.Add(Answer(1, "a"));
  queue.Add(Answer(1, "b"));
  EXPECT_EQ(Drain(queue), (Bodies{"a", "b"}));
  queue.Add(Answer(1, "c"));
  queue.OnWelcome(1);
  EXPECT_EQ(Drain(queue), (Bodies{"a", "b", "c"}));
}

TEST(SendQueue, KeepsOnlyTheLatestAnswers) {
  SendQueue queue;
  queue.OnWelcome(1);
  for (int i = 0; i < 40; ++i) queue.Add(Answer(1, std::to_string(i)));
  Drain(queue);
  queue.OnWelcome(1);
  const Bodies again = Drain(queue);
  ASSERT_EQ(again.size(), SendQueue::kKeptAnswers);
  EXPECT_EQ(again.back(), "39");
}

TEST(SendQueue, AnotherSessionGetsNothingOfTheEarlierOne) {
  SendQueue queue;
  queue.Add(Description("graph"));
  queue.OnWelcome(1);
  queue.Add(Answer(1, "sent"));
  Drain(queue);
  queue.Add(Answer(1, "waiting"));
  queue.OnWelcome(2);
  queue.Add(Answer(1, "late"));
  queue.Add(Answer(2, "fresh"));
  EXPECT_EQ(Drain(queue), (Bodies{"graph", "fresh"}));
}

TEST(SendQueue, WhereItIsFullTheWindowsGoFirst) {
  SendQueue queue;
  queue.OnWelcome(1);
  queue.Add(Answer(1, "first"));
  for (size_t i = 1; i < SendQueue::kMaxMessages; ++i) queue.Add(Window(1));
  queue.Add(Answer(1, "last"));
  EXPECT_EQ(queue.lost(), 1u);
  const Bodies bodies = Drain(queue);
  EXPECT_EQ(bodies.size(), SendQueue::kMaxMessages);
  EXPECT_EQ(bodies.front(), "first");
  EXPECT_EQ(bodies.back(), "last");
}

TEST(SendQueue, KernelsGoBeforeAnAnswerAndAreNotSentAgain) {
  SendQueue queue;
  queue.OnWelcome(1);
  queue.Add({OutgoingKind::kKernels, 1, "kernels", {}});
  for (size_t i = 1; i < SendQueue::kMaxMessages; ++i) queue.Add(Answer(1, "answer"));
  queue.Add(Answer(1, "last"));
  EXPECT_EQ(Drain(queue).front(), "answer");
  queue.Add({OutgoingKind::kKernels, 1, "kernels", {}});
  EXPECT_EQ(Drain(queue), Bodies{"kernels"});
  queue.OnWelcome(1);
  const Bodies again = Drain(queue);
  EXPECT_EQ(std::count(again.begin(), again.end(), "kernels"), 0);
}

TEST(SendQueue, DescriptionsStayWhereAResumedStreamBringsTooMuch) {
  SendQueue queue;
  queue.Add(Description("graph"));
  queue.Add(Description(std::string(1 << 20, 'w')));
  queue.OnWelcome(1);
  EXPECT_EQ(Drain(queue).size(), 2u);
  for (int i = 0; i < 5; ++i) {
    queue.Add(Answer(1, std::string(1 << 20, 'x')));
    Drain(queue);
  }
  queue.Add(Answer(1, "last"));
  queue.OnWelcome(1);
  const Bodies again = Drain(queue);
  ASSERT_GE(again.size(), 3u);
  EXPECT_EQ(again[0], "graph");
  EXPECT_EQ(again[1].front(), 'w');
  EXPECT_EQ(again.back(), "last");
  EXPECT_GT(queue.lost(), 0u);
}

TEST(SendQueue, BytesAreBoundedToo) {
  SendQueue queue;
  queue.OnWelcome(1);
  for (int i = 0; i < 10; ++i) queue.Add(Answer(1, std::string(1 << 20, 'x')));
  EXPECT_EQ(Drain(queue).size(), 4u);
  EXPECT_EQ(queue.lost(), 6u);
}

TEST(Mailbox, WhatCanWaitWakesNobody) {
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ASSERT_GE(wake_fd, 0);
  std::atomic<uint32_t> hot{0};
  Mailbox mailbox(hot, wake_fd);
  uint64_t wakes = 0;
  Outgoing units = Answer(1, "units");
  units.can_wait = true;
  ASSERT_TRUE(mailbox.Send(std::move(units)));
  EXPECT_LT(read(wake_fd, &wakes, sizeof wakes), 0);
  ASSERT_TRUE(mailbox.Send(Answer(1, "built")));
  EXPECT_GT(read(wake_fd, &wakes, sizeof wakes), 0);
  Outgoing taken;
  ASSERT_TRUE(mailbox.TakeOutgoing(taken));
  EXPECT_EQ(taken.body, "units");
  close(wake_fd);
}

TEST(Backoff, AnAbsentDaemonIsTriedFourTimesASecond) {
  Backoff backoff;
  for (uint64_t now : {uint64_t{0}, uint64_t{5}, kNever}) {
    EXPECT_EQ(backoff.AfterAbsent(now), SaturatingAdd(now, 250 * kMillisecond));
  }
}

TEST(Backoff, TheBreakerDoublesUpToThirtySecondsAndResets) {
  Backoff backoff;
  EXPECT_EQ(backoff.AfterUnanswered(0), 250 * kMillisecond);
  EXPECT_EQ(backoff.AfterUnanswered(0), 500 * kMillisecond);
  for (int i = 0; i < 20; ++i) backoff.AfterUnanswered(0);
  EXPECT_EQ(backoff.AfterUnanswered(0), 30 * kSecond);
  backoff.Answered();
  EXPECT_EQ(backoff.AfterUnanswered(0), 250 * kMillisecond);
}

TEST(Backoff, ADaemonThatIsRestartedAgainAndAgainIsTriedFourTimesASecond) {
  Backoff backoff;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(backoff.AfterStream(StreamEnd::kLeft, 0), 250 * kMillisecond);
  }
}

TEST(Backoff, OnlyAStreamThatLivedResetsTheBreaker) {
  Backoff backoff;
  EXPECT_EQ(backoff.AfterStream(StreamEnd::kUnanswered, 0), 250 * kMillisecond);
  EXPECT_EQ(backoff.AfterStream(StreamEnd::kUnanswered, 0), 500 * kMillisecond);
  backoff.AfterStream(StreamEnd::kLeft, 0);
  EXPECT_EQ(backoff.AfterStream(StreamEnd::kUnanswered, 0), 1000 * kMillisecond);
  EXPECT_EQ(backoff.AfterStream(StreamEnd::kLived, 0), 250 * kMillisecond);
  EXPECT_EQ(backoff.AfterStream(StreamEnd::kUnanswered, 0), 250 * kMillisecond);
}

TEST(SocketSearch, ANamedAddressIsTheOnlyCandidate) {
  EXPECT_EQ(FindSockets("/a", "/b", "/run/user/1").paths, Bodies{"/a"});
  EXPECT_EQ(FindSockets("", "/b", "/run/user/1").paths, Bodies{"/b"});
  EXPECT_EQ(FindSockets(nullptr, "unix:/b", nullptr).paths, Bodies{"/b"});
  EXPECT_EQ(FindSockets(nullptr, "unix:///b", nullptr).paths, Bodies{"/b"});
  EXPECT_EQ(FindSockets(nullptr, "relative.sock", nullptr).paths, Bodies{"relative.sock"});
}

TEST(SocketSearch, UnnamedItIsTheSystemsThenTheUsers) {
  EXPECT_EQ(FindSockets(nullptr, "", "/run/user/1").paths,
            (Bodies{"/run/blazed/blazed.sock", "/run/user/1/blazed/blazed.sock"}));
  EXPECT_EQ(FindSockets(nullptr, nullptr, nullptr).paths, Bodies{"/run/blazed/blazed.sock"});
  EXPECT_EQ(FindSockets(nullptr, nullptr, std::string(107, 'x').c_str()).paths.size(), 1u);
}

TEST(SocketSearch, AddressesOf107BytesAreTheLongest) {
  EXPECT_EQ(FindSockets(std::string(107, 'x').c_str(), nullptr, nullptr).paths.size(), 1u);
  const SocketCandidates found = FindSockets(std::string(108, 'x').c_str(), nullptr, nullptr);
  EXPECT_TRUE(found.paths.empty());
  EXPECT_NE(found.error, "");
  EXPECT_NE(FindSockets("unix:", nullptr, nullptr).error, "");
}

TEST(FrameReader, AnySplitGivesTheSameMessages) {
  const std::string stream = FramePrefix(3) + "abc" + FramePrefix(0) + FramePrefix(1) + "d";
  for (size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader(10);
    Bodies messages;
    const auto take = [&](std::string_view message) { messages.emplace_back(message); };
    EXPECT_EQ(reader.Feed(stream.substr(0, cut), take), FrameReader::Result::kOk);
    EXPECT_EQ(reader.Feed(stream.substr(cut), take), FrameReader::Result::kOk);
    EXPECT_EQ(messages, (Bodies{"abc", "", "d"})) << cut;
    EXPECT_TRUE(reader.AtBoundary());
  }
}

TEST(FrameReader, TheLimitIsInclusive) {
  FrameReader reader(3);
  const auto ignore = [](std::string_view) {};
  EXPECT_EQ(reader.Feed(FramePrefix(3) + "abc", ignore), FrameReader::Result::kOk);
  EXPECT_EQ(reader.Feed(FramePrefix(4), ignore), FrameReader::Result::kTooLarge);
}

TEST(SpscRing, RefusesWhenFullAndKeepsTheOrder) {
  SpscRing<int, 4> ring;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.Push(int{i}));
  EXPECT_FALSE(ring.Push(9));
  int value = -1;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(ring.Pop(value));
    EXPECT_EQ(value, i);
  }
  EXPECT_FALSE(ring.Pop(value));
}

TEST(SpscRing, TwoThreadsLoseNothing) {
  SpscRing<std::string, 64> ring;
  constexpr int kCount = 20'000;
  std::thread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      while (!ring.Push(std::to_string(i))) std::this_thread::yield();
    }
  });
  std::string value;
  for (int i = 0; i < kCount; ++i) {
    while (!ring.Pop(value)) std::this_thread::yield();
    ASSERT_EQ(value, std::to_string(i));
  }
  producer.join();
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(Bounded("abc", 3), "abc");
  EXPECT_EQ(Bounded("ab\xc3\xa9", 3), "ab");
  EXPECT_EQ(Bounded("ab\xc3\xa9", 4), "ab\xc3\xa9");
  EXPECT_EQ(Bounded("\xa9\xa9\xa9", 2), "");
}

// Latin-1, a sequence that ends early, one that is longer than it need be, half a pair of UTF-16, a
// character beyond the last.
TEST(Text, IsUtf8WhateverAHostGives) {
  EXPECT_EQ(Bounded("r\xe9seau", 96), "r?seau");
  EXPECT_EQ(Bounded("ab\xe2\x82", 96), "ab??");
  EXPECT_EQ(Bounded("\xc0\xaf", 96), "??");
  EXPECT_EQ(Bounded("\xed\xa0\x80", 96), "???");
  EXPECT_EQ(Bounded("\xf4\x90\x80\x80\xff", 96), "?????");
  EXPECT_EQ(Bounded("\xf0\x9f\x94\xa5 \xe2\x82\xac", 96), "\xf0\x9f\x94\xa5 \xe2\x82\xac");
}

// Both come back: the deadline is never.
TEST(Mailbox, NoReportIsWaitedForWhereNoDaemonWasMetOrItWentAway) {
  std::atomic<uint32_t> hot{0};
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Mailbox mailbox(hot, wake);
  std::string json;
  EXPECT_EQ(mailbox.FetchReport(UINT64_MAX, json), ReportOutcome::kTimeout);
  mailbox.Publish(StateOf(LinkStage::kTrying, 1));
  EXPECT_EQ(mailbox.FetchReport(UINT64_MAX, json), ReportOutcome::kTimeout);
  close(wake);
}

}  // namespace
}  // namespace blazed::shim
