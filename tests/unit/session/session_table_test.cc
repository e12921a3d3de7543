#include "daemon/session/session_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/process.h"
#include "tests/unit/session/session_table_fixture.h"

namespace blazed::session {
namespace {

using testing::HasSubstr;

TEST_F(SessionTableTest, AHelloIsWelcomed) {
  Client client = Open(Me());
  const auto* welcome = client.link->Last<session::Welcome>();
  ASSERT_NE(welcome, nullptr);
  EXPECT_EQ(welcome->mode, planner::Mode::kTune);
  EXPECT_FALSE(IsZero(welcome->token));
  EXPECT_EQ(welcome->epoch, writer_->epoch());
  EXPECT_EQ(table_->size(), 1u);
}

TEST_F(SessionTableTest, WhatComesBeforeHelloIsRefused) {
  Client client = Connect(Me());
  EXPECT_TRUE(Say(client, Bye{}).ok());
  const auto* refused = client.link->Last<Refused>();
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->sequence, 1u);
  EXPECT_TRUE(Say(client, TuneHello()).ok());
  EXPECT_NE(client.link->Last<session::Welcome>(), nullptr);
}

TEST_F(SessionTableTest, ASilentStreamIsEnded) {
  Client client = Connect(Me());
  loop_.Advance(absl::Seconds(29));
  EXPECT_FALSE(client.link->end.has_value());
  loop_.Advance(absl::Seconds(2));
  EXPECT_EQ(client.link->end->code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(SessionTableTest, ASecondHelloIsRefused) {
  Client client = Open(Me());
  EXPECT_TRUE(Say(client, TuneHello()).ok());
  EXPECT_EQ(client.link->Count<session::Welcome>(), 1u);
  EXPECT_EQ(client.link->Count<Refused>(), 1u);
}

TEST_F(SessionTableTest, ADeviceThatIsNeitherCpuNorAUuidIsInvalid) {
  Client client = Connect(Me());
  Hello hello = TuneHello();
  hello.device = "GPU-0";
  EXPECT_EQ(Say(client, hello).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SessionTableTest, AJobOnAnotherDeviceMeasuresToo) {
  const auto open = [&](const std::string& process, const std::string& device) {
    Client client = Connect(Me(process));
    Hello hello = TuneHello();
    hello.device = device;
    EXPECT_TRUE(Say(client, hello).ok());
    EXPECT_TRUE(Say(client, Graph()).ok());
    EXPECT_TRUE(Say(client, Workload(1, 2)).ok());
    return client;
  };
  const std::string gpu = "GPU-00000000-0000-0000-0000-00000000000";
  Client first = open("boot/1/1", gpu + "1"), other = open("boot/2/2", gpu + "2"),
         same = open("boot/3/3", gpu + "1");
  loop_.RunReady();
  EXPECT_EQ(first.link->Count<planner::RunPairs>(), 1u);
  EXPECT_EQ(other.link->Count<planner::RunPairs>(), 1u);
  EXPECT_EQ(same.link->Count<planner::RunPairs>(), 0u);
}

TEST_F(SessionTableTest, OneSessionTooManyIsExhausted) {
  options_.sessions_per_user = 2;
  table_->Reload(options_);
  Client first = Open(Me()), second = Open(Me());
  Client third = Connect(Me());
  EXPECT_EQ(Say(third, TuneHello()).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Say(first, Bye{}).ok());
  Client fourth = Connect(Me());
  EXPECT_TRUE(Say(fourth, TuneHello()).ok());
}

TEST_F(SessionTableTest, TheTokenBringsTheSessionBack) {
  Client first = Open(Me());
  const SessionToken token = first.link->Last<session::Welcome>()->token;
  table_->Detach(first.link, "lost");
  EXPECT_EQ(table_->size(), 1u);
  Client second = Connect(Me());
  Hello hello = TuneHello();
  hello.resume = token;
  ASSERT_TRUE(Say(second, hello).ok());
  EXPECT_EQ(second.link->Last<session::Welcome>()->token, token);
  EXPECT_EQ(table_->size(), 1u);
  loop_.Advance(absl::Seconds(60));
  EXPECT_EQ(table_->size(), 1u) << "the grace of the lost stream must not end a resumed session";
}

TEST_F(SessionTableTest, ATokenIsNothingWithoutItsProcessAndPrincipal) {
  Client first = Open(Me());
  const SessionToken token = first.link->Last<session::Welcome>()->token;
  Hello hello = TuneHello();
  hello.resume = token;
  Client other_process = Connect(Me("boot/2/2"));
  ASSERT_TRUE(Say(other_process, hello).ok());
  EXPECT_NE(other_process.link->Last<session::Welcome>()->token, token);
  Peer container = Me();
  container.principal = "uid:1000 container:x";
  Client other_principal = Connect(container);
  ASSERT_TRUE(Say(other_principal, hello).ok());
  EXPECT_NE(other_principal.link->Last<session::Welcome>()->token, token);
}

TEST_F(SessionTableTest, AResumeTakesTheSessionFromTheEarlierStream) {
  Client first = Open(Me());
  Hello hello = TuneHello();
  hello.resume = first.link->Last<session::Welcome>()->token;
  Client second = Connect(Me());
  ASSERT_TRUE(Say(second, hello).ok());
  EXPECT_EQ(first.link->end->code(), absl::StatusCode::kAborted);
  table_->Detach(first.link, "ended");
  loop_.Advance(absl::Seconds(60));
  EXPECT_EQ(table_->size(), 1u);
}

TEST_F(SessionTableTest, ALostStreamEndsItsSessionAfterTheGrace) {
  Client client = Open(Me());
  table_->Detach(client.link, "lost");
  loop_.Advance(absl::Seconds(19));
  EXPECT_EQ(table_->size(), 1u);
  loop_.Advance(absl::Seconds(2));
  EXPECT_EQ(table_->size(), 0u);
}

TEST_F(SessionTableTest, AnEndedProcessEndsItsSessionThoughItsStreamIsOpen) {
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(pipe_fds[1]);
    (void)!read(pipe_fds[0], &byte, 1);
    _exit(0);
  }
  Peer peer = Me();
  peer.pidfd = std::make_shared<const UniqueFd>(OpenPidfd(child));
  Client client = Open(peer);
  loop_.RunReady();
  EXPECT_EQ(table_->size(), 1u);
  close(pipe_fds[1]);
  EXPECT_TRUE(loop_.RunUntil([&] { return table_->size() == 0; }));
  EXPECT_EQ(client.link->end->code(), absl::StatusCode::kAborted);
  waitpid(child, nullptr, 0);
  close(pipe_fds[0]);
}

TEST_F(SessionTableTest, ADescribedSessionIsDirected) {
  Client client = Described(Me());
  EXPECT_TRUE(loop_.RunUntil([&] { return client.link->Last<planner::RunPairs>() != nullptr; }));
}

TEST_F(SessionTableTest, AWorkloadOfAnUnknownGraphIsRefused) {
  Client client = Open(Me());
  EXPECT_TRUE(Say(client, Workload(1, 2)).ok());
  EXPECT_THAT(client.link->Last<Refused>()->detail, HasSubstr("was not described"));
}

TEST_F(SessionTableTest, ADescriptionSaidAgainChangesNothing) {
  Client client = Described(Me());
  EXPECT_TRUE(Say(client, Graph()).ok());
  EXPECT_TRUE(Say(client, Workload(1, 2)).ok());
  EXPECT_EQ(client.link->Count<Refused>(), 0u);
  EXPECT_TRUE(Say(client, Workload(2, 2)).ok());
  EXPECT_EQ(client.link->Count<Refused>(), 1u);
}

TEST_F(SessionTableTest, AClaimOnAnothersFingerprintIsRefusedAndHarmsNobody) {
  Peer other = Me("boot/2/2");
  other.uid = 1001;
  other.principal = "uid:1001";
  Client claimant = Open(other);
  EXPECT_TRUE(Say(claimant, Graph()).ok());
  WorkloadSeen claim = Workload(1, 3);
  claim.row.spec.fingerprint = Workload(1, 2).row.spec.fingerprint;
  EXPECT_TRUE(Say(claimant, claim).ok());
  ASSERT_NE(claimant.link->Last<Refused>(), nullptr);
  EXPECT_THAT(claimant.link->Last<Refused>()->detail, HasSubstr("its graphs and decisions give"));
  Client honest = Described(Me());
  EXPECT_FALSE(honest.link->end.has_value()) << *honest.link->end;
  EXPECT_TRUE(loop_.RunUntil([&] { return honest.link->Last<planner::RunPairs>() != nullptr; }));
}

TEST_F(SessionTableTest, AGraphThatAnotherNamedOtherwiseIsTakenAllTheSame) {
  Peer other = Me("boot/2/2");
  other.uid = 1001;
  other.principal = "uid:1001";
  Client first = Open(other);
  GraphSeen odd = Graph();
  odd.row.name = "another name";
  odd.row.nodes = 77;
  EXPECT_TRUE(Say(first, odd).ok());
  EXPECT_TRUE(Say(first, Workload(1, 2)).ok());
  Client second = Described(Me());
  EXPECT_FALSE(second.link->end.has_value()) << *second.link->end;
  EXPECT_EQ(second.link->Count<Refused>(), 0u);
}

TEST_F(SessionTableTest, NamesOfALiveWorkloadMayDiffer) {
  Client first = Described(Me());
  Client second = Open(Me("boot/2/2"));
  EXPECT_TRUE(Say(second, Graph()).ok());
  WorkloadSeen renamed = Workload(1, 2);
  renamed.row.spec.name = "called otherwise";
  renamed.row.spec.decisions[0].name = "this too";
  EXPECT_TRUE(Say(second, renamed).ok());
  EXPECT_EQ(second.link->Count<Refused>(), 0u);
  EXPECT_NE(second.link->Last<planner::ReportProgress>(), nullptr) << "its tuning directs it";
}

TEST_F(SessionTableTest, AnUnansweredLeaseExpires) {
  log::Capture capture;
  Client client = Described(Me());
  ASSERT_TRUE(loop_.RunUntil([&] { return client.link->Last<planner::RunPairs>() != nullptr; }));
  const planner::RunPairs lease = *client.link->Last<planner::RunPairs>();
  loop_.Advance(absl::FromChrono(lease.deadline) + absl::Seconds(3));
  EXPECT_TRUE(capture.Has({"lease expired", absl::StrCat("directive=", lease.lease)}));
}

TEST_F(SessionTableTest, AHostThatRunsAheadIsAskedForUnitsOfSeveralSteps) {
  Client waits = Described(Me());
  ASSERT_TRUE(loop_.RunUntil([&] { return waits.link->Last<planner::RunPairs>() != nullptr; }));
  EXPECT_EQ(waits.link->Last<planner::RunPairs>()->timed_steps, 1u);
  EXPECT_TRUE(Say(waits, Bye{}).ok());
  Client queued = Open(Me("boot/2/2"));
  EXPECT_TRUE(Say(queued, Graph()).ok());
  WorkloadSeen seen = Workload(2, 2);
  seen.queued = true;
  EXPECT_TRUE(Say(queued, seen).ok());
  ASSERT_TRUE(loop_.RunUntil([&] { return queued.link->Last<planner::RunPairs>() != nullptr; }));
  EXPECT_GE(queued.link->Last<planner::RunPairs>()->warm_steps, 2u);
  EXPECT_GT(queued.link->Last<planner::RunPairs>()->timed_steps, 1u);
}

TEST_F(SessionTableTest, AnAnswerToNothingIsRefusedAndARepeatIsNot) {
  Client client = Described(Me());
  ASSERT_TRUE(loop_.RunUntil([&] { return client.link->Last<planner::RunPairs>() != nullptr; }));
  const planner::RunPairs lease = *client.link->Last<planner::RunPairs>();
  planner::LeaseDone done;
  done.lease = lease.lease + 1000;
  EXPECT_TRUE(Say(client, done).ok());
  EXPECT_THAT(client.link->Last<Refused>()->detail, HasSubstr("nothing was asked under id"));
  done.lease = lease.lease;
  done.units.resize(2 * lease.challenger_first.size(), planner::UnitTime{1'000'000, 0, 0});
  EXPECT_TRUE(Say(client, done).ok());
  EXPECT_TRUE(Say(client, done).ok());
  EXPECT_EQ(client.link->Count<Refused>(), 1u);
}

TEST_F(SessionTableTest, TimesThatCannotBeVoidTheLease) {
  for (uint64_t absurd : {uint64_t{0}, UINT64_MAX, uint64_t{1} << 60}) {
    Client client = Described(Me());
    ASSERT_TRUE(loop_.RunUntil([&] { return client.link->Last<planner::RunPairs>() != nullptr; }));
    const planner::RunPairs lease = *client.link->Last<planner::RunPairs>();
    planner::LeaseDone done;
    done.lease = lease.lease;
    done.units.resize(2 * lease.challenger_first.size(), planner::UnitTime{absurd, 0, 0});
    EXPECT_TRUE(Say(client, done).ok());
    EXPECT_THAT(client.link->Last<Refused>()->detail, HasSubstr("the lease is void"));
    EXPECT_FALSE(client.link->end.has_value()) << "the session goes on";
    EXPECT_TRUE(Say(client, Bye{}).ok());
  }
}

TEST_F(SessionTableTest, WorkloadsOfOneDeviceTakeTurns) {
  Client first = Described(Me("boot/1/1"), 1);
  ASSERT_TRUE(loop_.RunUntil([&] { return first.link->Last<planner::RunPairs>() != nullptr; }));
  Client second = Described(Me("boot/2/2"), 2);
  loop_.RunReady();
  EXPECT_EQ(second.link->Last<planner::RunPairs>(), nullptr);
  ASSERT_NE(second.link->Last<planner::ReportProgress>(), nullptr);
  EXPECT_EQ(second.link->Last<planner::ReportProgress>()->phase, planner::Phase::kWaiting);
  EXPECT_TRUE(Say(first, Bye{}).ok());
  EXPECT_TRUE(loop_.RunUntil([&] { return second.link->Last<planner::RunPairs>() != nullptr; }));
}

TEST_F(SessionTableTest, WaitingForATurnForgetsNothingOfWhatWasSpent) {
  options_.device_turn = absl::ZeroDuration();
  table_->Reload(options_);
  Client first = Described(Me("boot/1/1"), 1);
  const planner::SessionId id = table_->Summaries().front().id;
  const auto answer = [&](planner::DirectiveId after) {
    const auto due = [&] {
      const auto* pairs = first.link->Last<planner::RunPairs>();
      return pairs != nullptr && pairs->lease > after;
    };
    EXPECT_TRUE(loop_.RunUntil(due));
    const planner::RunPairs pairs = *first.link->Last<planner::RunPairs>();
    planner::LeaseDone done;
    done.lease = pairs.lease;
    done.complete = true;
    done.units.resize(2 * pairs.challenger_first.size(), planner::UnitTime{1'000'000, 0, 0});
    EXPECT_TRUE(Say(first, done).ok());
    return pairs.lease;
  };
  const planner::DirectiveId lease = answer(0);
  loop_.Advance(absl::Seconds(1));  // progress is told once a second
  const uint64_t spent = table_->Progress(id).cost.search_pairs;
  EXPECT_GT(spent, 0u);
  // The turn goes to the second session with the next answer.
  Client second = Described(Me("boot/2/2"), 2);
  answer(lease);
  EXPECT_THAT(table_->Progress(id).note, HasSubstr("waiting for a turn"));
  EXPECT_GE(table_->Progress(id).cost.search_pairs, spent);
  EXPECT_TRUE(Say(first, Bye{}).ok());
  EXPECT_EQ(table_->Progress(id), planner::ReportProgress{});
}

TEST_F(SessionTableTest, APauseSendsSessionsBackToTheDefault) {
  Client client = Described(Me());
  options_.pause = Pause::kOn;
  table_->Reload(options_);
  ASSERT_NE(client.link->Last<planner::Stand>(), nullptr);
  EXPECT_EQ(client.link->Last<planner::Stand>()->reason, planner::StandReason::kPaused);
  EXPECT_EQ(client.link->end->code(), absl::StatusCode::kUnavailable);
  Client again = Open(Me());
  EXPECT_EQ(again.link->Last<session::Welcome>()->mode, planner::Mode::kObserve);
}

TEST_F(SessionTableTest, ATokenFindsItsSessionForItsPrincipalAndRoot) {
  Client client = Open(Me());
  const SessionToken token = client.link->Last<session::Welcome>()->token;
  EXPECT_TRUE(table_->FindByToken(token, "uid:1000").ok());
  EXPECT_TRUE(table_->FindByToken(token, "uid:0").ok());
  EXPECT_EQ(table_->FindByToken(token, "uid:0 container:x").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(table_->FindByToken(token, "uid:1001").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(Say(client, Bye{}).ok());
  EXPECT_TRUE(table_->FindByToken(token, "uid:1000").ok()) << "also after its end";
}

TEST_F(SessionTableTest, NothingAttachedLeavesNoTimer) {
  Client client = Described(Me());
  EXPECT_GT(loop_.timers(), 0u);
  EXPECT_TRUE(Say(client, Bye{}).ok());
  table_->Detach(client.link, "ended");
  loop_.Advance(absl::Seconds(5));
  EXPECT_EQ(loop_.timers(), 0u);
}

TEST_F(SessionTableTest, ADrainWaitsForTheLeasesThatAreOut) {
  Client client = Described(Me());
  ASSERT_TRUE(loop_.RunUntil([&] { return client.link->Last<planner::RunPairs>() != nullptr; }));
  const planner::RunPairs lease = *client.link->Last<planner::RunPairs>();
  bool drained = false;
  table_->Drain(absl::Seconds(2), [&] { drained = true; });
  EXPECT_FALSE(drained);
  planner::LeaseDone done;
  done.lease = lease.lease;
  done.units.resize(2 * lease.challenger_first.size(), planner::UnitTime{1'000'000, 0, 0});
  EXPECT_TRUE(Say(client, done).ok());
  EXPECT_TRUE(drained);
  EXPECT_EQ(client.link->Last<planner::RunPairs>()->lease, lease.lease) << "and no other is lent";
}

TEST_F(SessionTableTest, ADrainDoesNotWaitForEver) {
  Client client = Described(Me());
  ASSERT_TRUE(loop_.RunUntil([&] { return client.link->Last<planner::RunPairs>() != nullptr; }));
  bool drained = false;
  table_->Drain(absl::Seconds(2), [&] { drained = true; });
  loop_.Advance(absl::Seconds(3));
  EXPECT_TRUE(drained);
}

}  // namespace
}  // namespace blazed::session
