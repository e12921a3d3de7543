// Directives in order, repeated, hostile, or for a session that is no more.
#include <gtest/gtest.h>

#include "tests/unit/shim/engine_fixture.h"

namespace blazed::shim {
namespace {

using DirectivesTest = EngineTest;

TEST_F(DirectivesTest, ARepeatedDirectiveGetsTheSameAnswerAndDoesNothing) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 1);
  Steps(3);
  const size_t before = daemon.sent.size();
  OrderBuild(1, Behaviour::kGood);
  OrderProbe(1);
  OrderPairs(77, 0, 1, 1);
  ran.clear();
  Steps(3);
  EXPECT_EQ(ran, std::vector<uint64_t>(3, 0));
  EXPECT_EQ(host.builds, 1);
  EXPECT_EQ(host.probes[handle], 3);
  ASSERT_EQ(daemon.sent.size(), before + 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(daemon.sent[before + i].SerializeAsString(),
              daemon.sent[before - 3 + i].SerializeAsString());
  }
}

TEST_F(DirectivesTest, TheEndOfALeaseMakesNoSystemCall) {
  Start();
  Prove(1, Behaviour::kGood);
  daemon.woke_for.clear();
  OrderPairs(77, 0, 1, 1);
  Steps(3);
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kStepsDone).size(), 1u);
  EXPECT_TRUE(daemon.woke_for.empty());
  OrderAdopt(1, true);
  Step();
  EXPECT_EQ(daemon.woke_for, std::vector{v1::ShimMessage::kAdopted});
}

TEST_F(DirectivesTest, AdoptRunsTheVariantFromTheNextStep) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1, true);
  EXPECT_EQ(Step(), handle);
  const auto adopted = daemon.Sent(v1::ShimMessage::kAdopted);
  ASSERT_EQ(adopted.size(), 1u);
  EXPECT_EQ(adopted[0].adopted().variant(), 1u);
  EXPECT_EQ(adopted[0].adopted().from_step(), step);
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.champion, 1u);
  EXPECT_EQ(info.settled, 1u);
  EXPECT_EQ(info.settlement, BLZ_SETTLEMENT_IN_JOB);
  ASSERT_EQ(info.champion_choice_count, 1u);
  EXPECT_EQ(info.champion_choices[0].option, 1u);
  EXPECT_EQ(hot.load(), kHotAlive);
}

TEST_F(DirectivesTest, AdoptOfAnotherPlanThanWasBuiltIsRefused) {
  Start();
  Prove(1, Behaviour::kGood);
  Adopt adopt;
  adopt.adopt_id = 5;
  adopt.variant = 1;
  adopt.plan = PlanOf(Behaviour::kNan);
  daemon.Orders(adopt);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_MALFORMED);
}

TEST_F(DirectivesTest, StandGoesBackToTheDefaultAtTheNextStepAndEndsTheLease) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  EXPECT_EQ(Step(), handle);
  OrderPairs(77, 1, 0, 4);
  Steps(2);
  daemon.OrdersStand(1);
  EXPECT_EQ(Step(), 0u);
  const auto done = daemon.Sent(v1::ShimMessage::kStepsDone);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].steps_done().complete(), 0u);
  EXPECT_EQ(done[0].steps_done().units_size(), 2);
  OrderPairs(78, 0, 1, 1);
  Steps(2);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
  OrderAdopt(1);
  EXPECT_EQ(Step(), handle);
}

TEST_F(DirectivesTest, StandVoidsWhatArrivedBeforeIt) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 4);
  OrderAdopt(1);
  daemon.OrdersStand(4);
  Steps(6);
  EXPECT_EQ(ran, std::vector<uint64_t>(6, 0));
}

TEST_F(DirectivesTest, UnknownVariantsAreRefused) {
  Start();
  OrderPairs(1, 0, 99);
  OrderAdopt(98);
  OrderProbe(97);
  daemon.Orders(Drop{96});
  Steps(3);
  ASSERT_EQ(daemon.Refusals().size(), 3u);
  for (const auto& refusal : daemon.Refusals()) {
    EXPECT_EQ(refusal.reason(), v1::REFUSAL_REASON_UNKNOWN_VARIANT);
  }
}

TEST_F(DirectivesTest, SchedulesBeyondTheLimitsAreRefused) {
  Start();
  Prove(1, Behaviour::kGood);
  const auto order = [&](uint64_t id, uint32_t pairs, size_t bytes, uint32_t warm, uint32_t timed) {
    daemon.Orders(RunPairs{id, 0, 1, pairs, std::vector<uint8_t>(bytes, 0xff), warm, timed, 0, 0});
  };
  order(1, 1'000'000, 16, 0, 1);
  order(2, 8, 2, 0, 1);
  order(3, 8, 0, 0, 1);
  order(4, 0, 0, 0, 1);
  order(5, 8, 1, 65, 1);
  order(6, 8, 1, 0, 65);
  order(7, 8, 1, 0, 0);
  order(8, UINT32_MAX, 16, UINT32_MAX, UINT32_MAX);
  Steps(3);
  EXPECT_EQ(ran, std::vector<uint64_t>(3, 0));
  EXPECT_EQ(daemon.Refusals().size(), 8u);
}

TEST_F(DirectivesTest, PlansThatDoNotFitTheWorkloadAreRefused) {
  Start();
  daemon.Orders(Build{1, 1, {{0, 10}}, 0});
  daemon.Orders(Build{2, 2, {{1, 1}}, 0});
  daemon.Orders(Build{3, 3, {{0, 0}}, 0});
  daemon.Orders(Build{4, 4, {{0, 1}, {0, 2}}, 0});
  daemon.Orders(Build{5, 0, {{0, 1}}, 0});
  daemon.Orders(Build{6, UINT32_MAX, {{0, 1}}, 0});
  Step();
  EXPECT_EQ(host.builds, 0);
  EXPECT_EQ(daemon.Refusals().size(), 6u);
}

TEST_F(DirectivesTest, NothingIsBuiltBeforeTheWorkloadIsDescribed) {
  ops = host.Ops();
  engine = std::make_unique<Engine>(config, ops, clock, hot, daemon);
  daemon.Welcomes();
  OrderBuild(1, Behaviour::kGood);
  OrderPairs(2, 0, 0);
  OrderAdopt(0);
  Step();
  EXPECT_EQ(host.builds, 0);
  EXPECT_EQ(daemon.Refusals().size(), 3u);
}

TEST_F(DirectivesTest, MoreThan64LiveVariantsAreRefused) {
  Start();
  for (uint32_t variant = 1; variant <= 65; ++variant) {
    OrderBuild(variant, Behaviour::kGood);
    Step();
  }
  EXPECT_EQ(host.live.size(), 64u);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_OVER_LIMIT);
  OrderBuild(66, Behaviour::kGood, 1);
  Step();
  EXPECT_EQ(host.live.size(), 64u);
  EXPECT_EQ(host.builds, 65);
}

TEST_F(DirectivesTest, RebuildTearsDownFirstAndProvesAnew) {
  Start();
  const uint64_t first = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  EXPECT_EQ(Step(), first);
  OrderBuild(2, Behaviour::kGood, 1);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(host.dropped, std::vector<uint64_t>{first});
  OrderPairs(77, 0, 2, 1);
  Steps(2);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_PROVEN);
}

TEST_F(DirectivesTest, DroppingTheChampionRunsTheDefault) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  Step();
  daemon.Orders(Drop{1});
  EXPECT_EQ(Step(), 0u);
  EXPECT_TRUE(host.live.empty());
}

TEST_F(DirectivesTest, AFloodIsBounded) {
  Start();
  for (uint32_t i = 0; i < 10'000; ++i) OrderBuild(1, Behaviour::kGood);
  config.point_budget_ns = 0;
  Step();
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.refused, 10'000u - Engine::kMaxQueued);
}

TEST_F(DirectivesTest, OneBuildAPointWhereTheBudgetIsSmall) {
  config.point_budget_ns = 1;
  Start();
  OrderBuild(1, Behaviour::kGood);
  OrderBuild(2, Behaviour::kGood);
  Step();
  EXPECT_EQ(host.builds, 1);
  EXPECT_NE(hot.load() & kHotEngaged, 0u);
  Step();
  EXPECT_EQ(host.builds, 2);
}

TEST_F(DirectivesTest, TheTotalBudgetEndsBuildsAndProbes) {
  config.total_budget_ns = 1500;
  Start();
  OrderBuild(1, Behaviour::kGood);
  OrderBuild(2, Behaviour::kGood);
  OrderBuild(3, Behaviour::kGood);
  OrderProbe(1);
  Steps(2);
  EXPECT_EQ(host.builds, 2);
  EXPECT_EQ(host.probes[1], 0);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_OVER_LIMIT);
}

TEST_F(DirectivesTest, EndlessBuildsKeepToAQuarterOfTheTime) {
  host.build_ns = 10 * kSecond;
  Start();
  const uint64_t attached = clock.now;
  uint64_t trained = 0;
  for (uint32_t variant = 1; variant <= 200; ++variant) {
    OrderBuild(variant, Behaviour::kGood);
    daemon.Orders(Drop{variant});
    Step(5 * kSecond);
    trained += 5 * kSecond;
  }
  const uint64_t elapsed = clock.now - attached;
  EXPECT_EQ(ran, std::vector<uint64_t>(200, 0));
  EXPECT_GT(host.builds, 20);
  EXPECT_LE(host.builds * host.build_ns, Engine::kFreeWorkNs + elapsed / 4 + host.build_ns);
  EXPECT_EQ(trained + host.builds * host.build_ns, elapsed);
}

// Builds so long that no further one may begin yet, with a proven variant 1 in use.
class PacedTest : public DirectivesTest {
 protected:
  void SetUp() override {
    Start();
    handle_ = Prove(1, Behaviour::kGood);
    OrderAdopt(1);
    host.build_ns = 1000 * kSecond;
    OrderBuild(2, Behaviour::kAlsoGood);
    ASSERT_EQ(Step(), handle_);
    OrderBuild(3, Behaviour::kGood);
    ASSERT_EQ(Step(), handle_);
    ASSERT_EQ(host.builds, 2) << "the third waits for its time";
  }
  uint64_t handle_ = 0;
};

TEST_F(PacedTest, TheWayBackToTheDefaultDoesNotWaitForABuild) {
  OrderProbe(3);
  OrderAdopt(0);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(host.builds, 2);
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kAdopted).size(), 2u);
  clock.now += 10'000 * kSecond;
  Steps(4);
  EXPECT_EQ(host.builds, 3) << "the build kept its place";
  EXPECT_EQ(host.probes[host.next_handle - 1], 3);
}

TEST_F(PacedTest, AnAdoptionOfWhatIsProvenDoesNotWaitForABuild) {
  OrderAdopt(0);
  OrderAdopt(1);
  EXPECT_EQ(Step(), handle_);
  const auto adopted = daemon.Sent(v1::ShimMessage::kAdopted);
  ASSERT_EQ(adopted.size(), 3u);
  EXPECT_EQ(adopted[1].adopted().variant(), 0u) << "in their order";
  EXPECT_EQ(adopted[2].adopted().variant(), 1u);
}

TEST_F(PacedTest, AnAdoptionWaitsForTheVariantThatItNames) {
  OrderProbe(3);
  OrderAdopt(3);
  EXPECT_EQ(Step(), handle_);
  EXPECT_TRUE(daemon.Refusals().empty());
  clock.now += 10'000 * kSecond;
  Steps(3);
  EXPECT_EQ(Step(), host.next_handle - 1);
  EXPECT_TRUE(daemon.Refusals().empty());
}

TEST_F(PacedTest, AnAdoptionThatALaterOneOvertookIsRefusedAndNotFollowedBehindIt) {
  OrderProbe(3);
  OrderAdopt(3);
  OrderAdopt(0);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_UNKNOWN_VARIANT);
  clock.now += 10'000 * kSecond;
  ran.clear();
  Steps(5);
  EXPECT_EQ(ran, std::vector<uint64_t>(5, 0));
}

TEST_F(DirectivesTest, AStandVoidsTheLeaseBeforeItAlsoWhereAnAdoptionBehindItWasFollowed) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderBuild(2, Behaviour::kAlsoGood);
  OrderProbe(2);
  OrderPairs(77, 0, 1, 4);
  daemon.holds_stand = true;
  daemon.OrdersStand(1);
  OrderAdopt(1);
  EXPECT_EQ(Step(), handle);
  daemon.holds_stand = false;
  Steps(8);
  EXPECT_EQ(ran, std::vector<uint64_t>(9, handle));
}

TEST_F(DirectivesTest, AnAdoptionDoesNotWaitForTheBatchesOfAProbe) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  OrderBuild(2, Behaviour::kAlsoGood);
  OrderProbe(2);
  OrderAdopt(0);
  Steps(1);
  EXPECT_EQ(ran.back(), 0u) << handle;
  Steps(3);
  EXPECT_EQ(host.probes[host.next_handle - 1], 3) << "the probe goes on";
}

TEST_F(DirectivesTest, ALostDaemonLeavesTheChampionRunning) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  Step();
  daemon.Loses("the daemon closed the connection");
  EXPECT_EQ(Step(), handle);
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.state, BLZ_STATE_RECONNECTING);
  EXPECT_EQ(engine->reason(), "the daemon closed the connection");
  daemon.Welcomes();
  EXPECT_EQ(Step(), handle);
}

TEST_F(DirectivesTest, ARebuildOfThePlanInUseRunsTheDefaultAndIsNoTrouble) {
  std::vector<blz_log_level> said;
  config.log = [](void* user, blz_log_level level, const char*) {
    static_cast<decltype(said)*>(user)->push_back(level);
  };
  config.log_user = &said;
  Start();
  const uint64_t first = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  EXPECT_EQ(Step(), first);
  OrderBuild(2, Behaviour::kGood, 1);
  OrderProbe(2);
  Steps(4);
  EXPECT_EQ(host.dropped, std::vector<uint64_t>{first});
  EXPECT_EQ(ran.back(), 0u);
  EXPECT_EQ(engine->reason(), "");
  EXPECT_EQ(said, std::vector<blz_log_level>{});
  OrderAdopt(2, true);
  EXPECT_EQ(Step(), host.next_handle - 1);
  EXPECT_EQ(engine->reason(), "");
}

TEST_F(DirectivesTest, ADropOfThePlanInUseIsSaidUntilAnotherOneIs) {
  Start();
  const uint64_t first = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  EXPECT_EQ(Step(), first);
  daemon.Orders(Drop{1});
  Steps(2);
  EXPECT_EQ(ran.back(), 0u);
  EXPECT_EQ(engine->reason(), "the daemon dropped the plan in use");
  OrderAdopt(0);
  Step();
  EXPECT_EQ(engine->reason(), "");
}

TEST_F(DirectivesTest, AFreshSessionKeepsTheChampionAndForgetsTheRest) {
  Start();
  const uint64_t champion = Prove(1, Behaviour::kGood);
  const uint64_t other = Prove(2, Behaviour::kAlsoGood);
  OrderAdopt(1);
  Step();
  daemon.Loses("gone");
  daemon.Welcomes(WireMode::kTune, 2);
  EXPECT_EQ(Step(), champion);
  EXPECT_EQ(host.dropped, std::vector<uint64_t>{other});
  // The plan in use is asked for again: it is there, and proven.
  daemon.Orders(Build{1, 1, PlanOf(Behaviour::kGood), 0});
  OrderPairs(5, 0, 1, 1);
  ran.clear();
  Steps(2);
  EXPECT_EQ(host.builds, 2);
  EXPECT_EQ(ran, (std::vector<uint64_t>{0, champion}));
}

TEST_F(DirectivesTest, AFreshSessionThatAdoptsTheDefaultEndsTheOrphan) {
  Start();
  const uint64_t champion = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  Step();
  daemon.Welcomes(WireMode::kTune, 2);
  EXPECT_EQ(Step(), champion);
  OrderAdopt(0);
  EXPECT_EQ(Step(), 0u);
  EXPECT_TRUE(host.live.empty());
}

TEST_F(DirectivesTest, DirectivesOfAnEarlierSessionAreVoid) {
  Start();
  OrderBuild(1, Behaviour::kGood);
  daemon.Welcomes(WireMode::kTune, 2);
  Step();
  EXPECT_EQ(host.builds, 0);
}

TEST_F(DirectivesTest, CloseDropsEveryHandle) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderBuild(2, Behaviour::kGood);
  OrderAdopt(1);
  Step();
  engine->Close();
  EXPECT_TRUE(host.live.empty());
  EXPECT_EQ(engine->champion_handle(), 0u);
}

}  // namespace
}  // namespace blazed::shim
