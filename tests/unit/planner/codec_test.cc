#include "daemon/planner/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

Opening SomeOpening() {
  Opening opening;
  opening.workload.fingerprint = Digest{1, 2, 255};
  opening.workload.name = "attention 257, width=64 %";
  DecisionSpec d;
  d.name = "softmax|mask";
  d.kind = DecisionKind::kChoice;
  d.options = {"", "streamed, by key", "a=b"};
  d.sites = 12;
  d.reorders_sums = true;
  opening.workload.decisions = {d, {}};
  opening.contract = Contract::kPrediction;
  opening.config.alpha = 1.0 / 3;
  opening.config.share_device = true;
  opening.memory.settlement.emplace().plan = {{0, 2}};
  opening.memory.settlement->gain = {0.1, -0.0, 1e-300};
  opening.memory.drift = DriftTimer{7, 500, 3};
  opening.memory.plans.resize(2);
  opening.memory.plans[1].reason = "na\xc3\xafve\nline";
  opening.memory.plans[1].comparison.worst_tensor = "grad w";
  opening.memory.races = 41;
  opening.memory.checks = 7;
  opening.memory.surrogate = {0, 255, 16};
  return opening;
}

TEST(Codec, ReadsAnOpeningBackExactly) {
  const Opening opening = SomeOpening();
  std::string error;
  const std::string line = EncodeOpening(opening);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = DecodeOpening(line, &error);
  ASSERT_TRUE(read.has_value()) << error;
  EXPECT_EQ(*read, opening);
  EXPECT_EQ(EncodeOpening(*read), line);
}

TEST(Codec, ReadsEveryEventAndActionOfAWholeTuningBackExactly) {
  sim::TableSettings settings;
  settings.boundaries = 40;  // thoughts are events
  settings.choices = 2;
  settings.good_share = 0.5;
  const sim::CostTable table(settings, 5);
  sim::Host host(&table, {}, {}, {}, 3);
  const SessionId first = host.Attach("a", Mode::kTune, "GPU-0 1/2");
  host.Attach("b", Mode::kTune, "GPU-1");
  ASSERT_TRUE(host.RunUntilEnd(first, 100000));
  ASSERT_TRUE(std::any_of(host.races().begin(), host.races().end(), [](const RaceRecord& race) {
    return std::any_of(race.pairs.begin(), race.pairs.end(),
                       [](const PairSample& pair) { return pair.session != 0; });
  }));
  host.Serve(first, 2000);
  host.Send(LeaseExpired{first, 99});
  host.Send(DirectiveHeld{first, 97});
  host.Send(DirectiveSent{first, 97});
  host.Send(DirectiveRefused{first, 98, 1, Refusal::kMemory, "out of memory, 5 %"});
  host.Detach(first);
  ASSERT_TRUE(std::any_of(host.events().begin(), host.events().end(), [](const Event& event) {
    return std::holds_alternative<ThoughtDone>(event.body);
  }));
  std::string error;
  for (const Event& event : host.events()) {
    const auto read = DecodeEvent(EncodeEvent(event), &error);
    ASSERT_TRUE(read.has_value()) << error << ": " << EncodeEvent(event);
    EXPECT_EQ(*read, event);
  }
  for (const Action& action : host.actions()) {
    const auto read = DecodeAction(EncodeAction(action), &error);
    ASSERT_TRUE(read.has_value()) << error << ": " << EncodeAction(action);
    EXPECT_EQ(*read, action);
  }
}

TEST(Codec, ReadsTheEventsAndRacesOfAQueuedHostBackExactly) {
  const sim::CostTable table({-0.1, 0.05});
  sim::HostSettings settings;
  settings.queue = sim::QueueSettings{};
  settings.queue_host_ns = 2e6;
  sim::Host host(&table, settings, {}, {}, 3);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("a"), 100000));
  std::string error;
  bool ran_ahead = false, device = false;
  for (const Event& event : host.events()) {
    const auto read = DecodeEvent(EncodeEvent(event), &error);
    ASSERT_TRUE(read.has_value()) << error << ": " << EncodeEvent(event);
    EXPECT_EQ(*read, event);
    const auto* lease = std::get_if<LeaseDone>(&event.body);
    ran_ahead = ran_ahead || (lease != nullptr && lease->run_ahead.value_or(0) > 0);
  }
  for (const Action& action : host.actions()) {
    const auto read = DecodeAction(EncodeAction(action), &error);
    ASSERT_TRUE(read.has_value()) << error << ": " << EncodeAction(action);
    EXPECT_EQ(*read, action);
    const auto* race = std::get_if<KeepRace>(&action);
    if (race == nullptr) continue;
    EXPECT_GE(race->record.timed_steps, 8u);
    for (const PairSample& pair : race->record.pairs) {
      device = device || (pair.champion_device_ns > 0 && pair.challenger_device_ns > 0);
    }
  }
  EXPECT_TRUE(ran_ahead);
  EXPECT_TRUE(device);
}

TEST(Codec, KeepsTheExtremesOfNumbers) {
  Event event;
  event.at = Nanos(std::numeric_limits<int64_t>::min());
  ProbeDone done;
  done.session = std::numeric_limits<uint64_t>::max();
  done.summary.max_abs = std::numeric_limits<double>::infinity();
  done.summary.max_rel = std::numeric_limits<double>::denorm_min();
  event.body = done;
  std::string error;
  const auto read = DecodeEvent(EncodeEvent(event), &error);
  ASSERT_TRUE(read.has_value()) << error;
  EXPECT_EQ(*read, event);
}

TEST(Codec, StaysTheSameTextOverReleases) {
  Event event;
  event.at = Nanos(12);
  event.body = LeaseDone{3, 4, {{10, 0, 0}, {11, 5, 32}}, 6, 7, false, {}};
  EXPECT_EQ(EncodeEvent(event),
            "6 lease_done at=12 session=3 lease=4 units=10/0/0,11/5/32 first_step=6 drain_ns=7 "
            "complete=0 run_ahead=0");
  std::get<LeaseDone>(event.body).run_ahead = 8;
  EXPECT_EQ(EncodeEvent(event),
            "6 lease_done at=12 session=3 lease=4 units=10/0/0,11/5/32 first_step=6 drain_ns=7 "
            "complete=0 run_ahead=1 run_ahead=8");
  RunPairs run{1, 2, 0, 3, {true, false}, 1, 2, Nanos(9), 8};
  EXPECT_EQ(EncodeAction(run),
            "6 run_pairs session=1 lease=2 champion=0 challenger=3 challenger_first=10 warm=1 "
            "timed=2 deadline=9 abort_ns=8");
  event.body = ThoughtDone{3, 4, {Plan{{0, 1}, {7, 2}}, 0.5, {{}, {{1, 1}}}, {}, 0, 6, 2}};
  EXPECT_EQ(EncodeEvent(event),
            "6 thought_done at=12 session=3 request=4 contender=1 contender=0/1,7/2 left=0.5 "
            "plans=2 plan= plan=1/1 base= gain=0 samples=6 quiet=2");
  event.body = DirectiveHeld{3, 4};
  EXPECT_EQ(EncodeEvent(event), "6 directive_held at=12 session=3 directive=4");
  event.body = DirectiveSent{3, 4};
  EXPECT_EQ(EncodeEvent(event), "6 directive_sent at=12 session=3 directive=4");
  EXPECT_EQ(EncodeAction(Think{3, 4}), "6 think session=3 request=4");
}

TEST(Codec, RefusesAnotherVersionAndSaysTheNextMove) {
  std::string error;
  EXPECT_FALSE(DecodeEvent("7 tick at=1", &error).has_value());
  EXPECT_NE(error.find("release that wrote it"), std::string::npos);
  // Version 1 knew no checks of earlier processes: a log of it would be decided otherwise.
  EXPECT_FALSE(DecodeEvent("1 tick at=1", &error).has_value());
  EXPECT_NE(error.find("another version than 6"), std::string::npos) << error;
}

TEST(Codec, RefusesLinesThatAreCutShortBentOrTooLong) {
  Event event;
  event.body = LeaseDone{3, 4, {{10, 0, 0}, {11, 0, 0}}, 5, 6, true, 7};
  const std::string line = EncodeEvent(event);
  std::string error;
  for (size_t length = 0; length < line.size(); ++length) {
    const auto read = DecodeEvent(std::string_view(line).substr(0, length), &error);
    EXPECT_FALSE(read.has_value() && *read == event) << length;
  }
  EXPECT_FALSE(DecodeEvent(line + " more=1", &error).has_value());
  EXPECT_FALSE(DecodeEvent("6 lease_dome at=1", &error).has_value());
  EXPECT_EQ(error, "the line's kind is unknown");
  EXPECT_FALSE(DecodeEvent("6 session_gone at=1 session=-1 reason=", &error).has_value());
  EXPECT_FALSE(DecodeEvent("6 session_gone at=1 session=1 reason=%4", &error).has_value());
  EXPECT_FALSE(DecodeOpening("6 tuning fingerprint=00", &error).has_value());
}

TEST(Codec, RefusesACountThatTheLineCannotHold) {
  std::string line = EncodeOpening(SomeOpening());
  const size_t at = line.find("decisions=2");
  ASSERT_NE(at, std::string::npos);
  line.replace(at, 11, "decisions=999999999999");
  std::string error;
  EXPECT_FALSE(DecodeOpening(line, &error).has_value());
}

}  // namespace
}  // namespace blazed::planner
