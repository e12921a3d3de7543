// Units, drained points, aborts and service windows.
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/shim/engine_fixture.h"

namespace blazed::shim {
namespace {

class TimingTest : public EngineTest {
 protected:
  // A host that runs ahead: draining takes 50 ns, the device's clock is half of the host's.
  void MakeQueued() {
    ops = host.Ops();
    ops.user = this;
    static blz_host_ops base;
    base = host.Ops();
    ops.build = [](void* user, const blz_choice* c, size_t n, blz_built* out) {
      return base.build(&static_cast<TimingTest*>(user)->host, c, n, out);
    };
    ops.drop = [](void* user, uint64_t handle) {
      base.drop(&static_cast<TimingTest*>(user)->host, handle);
    };
    ops.probe = [](void* user, uint64_t handle, blz_probe_sink* sink) {
      return base.probe(&static_cast<TimingTest*>(user)->host, handle, sink);
    };
    ops.signature = [](void* user, uint64_t handle, uint8_t out[16]) {
      base.signature(&static_cast<TimingTest*>(user)->host, handle, out);
    };
    ops.drain = [](void* user) {
      auto* test = static_cast<TimingTest*>(user);
      ++test->drains;
      test->clock.now += 50;
    };
    ops.device_clock_ns = [](void* user) { return static_cast<TimingTest*>(user)->clock.now / 2; };
  }
  // Every step stays in flight until the queue is drained.
  void MakeTellRunAhead() {
    MakeQueued();
    ops.steps_in_flight = [](void* user) {
      auto* test = static_cast<TimingTest*>(user);
      ++test->asked;
      return test->in_flight;
    };
  }
  // Asking takes time, which is none of the unit's.
  void MakeTellWhatHappened() {
    MakeQueued();
    ops.unit_flags = [](void* user) {
      auto* test = static_cast<TimingTest*>(user);
      ++test->asked;
      test->clock.now += 777;
      return std::exchange(test->happened, 0u);
    };
  }
  v1::StepsDone LastDone() const {
    const auto done = daemon.Sent(v1::ShimMessage::kStepsDone);
    return done.empty() ? v1::StepsDone() : done.back().steps_done();
  }
  int drains = 0, asked = 0;
  uint32_t in_flight = 0, happened = 0;
};

TEST_F(TimingTest, OneStepUnitsAreTheStepsOwnTimes) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 2);
  for (const uint64_t ns : {1000, 2000, 3000, 4000}) {
    clock.now += 777;  // between steps: another batch is fetched
    Step(ns);
  }
  const auto done = LastDone();
  ASSERT_EQ(done.units_size(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(done.units(i).host_ns(), 1000u * (i + 1));
  EXPECT_EQ(done.complete(), 1u);
  EXPECT_EQ(done.first_step(), step - 3);
  EXPECT_EQ(done.units(0).device_ns(), 0u);
}

TEST_F(TimingTest, WarmStepsAreRunAndNotCounted) {
  MakeQueued();
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 1, {0}, 2, 3, 0, 0});
  for (int i = 0; i < 5; ++i) Step(i < 2 ? 100'000 : 100);
  Steps(5);
  EXPECT_EQ(ran, (std::vector<uint64_t>{0, 0, 0, 0, 0, handle, handle, handle, handle, handle}));
  const auto done = LastDone();
  ASSERT_EQ(done.units_size(), 2);
  EXPECT_EQ(done.units(0).host_ns(), 3 * 100u + 50);
  EXPECT_EQ(done.units(0).device_ns(), (3 * 100u + 50) / 2);
  EXPECT_EQ(done.units(1).host_ns(), 3 * 1000u + 50);
  EXPECT_EQ(done.drain_ns(), 4 * 50u);
}

TEST_F(TimingTest, NeighboursWithoutWarmStepsShareOneDrainedPoint) {
  MakeQueued();
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 2, {0}, 0, 1, 0, 0});
  Steps(4);
  EXPECT_EQ(drains, 5);
  EXPECT_EQ(LastDone().units_size(), 4);
}

TEST_F(TimingTest, ALeaseSaysHowFarTheHostRanAhead) {
  MakeTellRunAhead();
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 1, {0}, 2, 3, 0, 0});
  for (const uint32_t steps : {1, 4, 4, 4, 2}) {
    in_flight = steps;
    Step();
  }
  EXPECT_EQ(asked, 2) << "at the lease's first step, and at its unit's last";
  in_flight = 3;
  Steps(5);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(LastDone().run_ahead(), 3u);
}

TEST_F(TimingTest, AHostIsNotAskedWhereItsQueueWasJustDrained) {
  MakeTellRunAhead();
  Start();
  Prove(1, Behaviour::kGood);
  in_flight = 2;
  daemon.Orders(RunPairs{77, 0, 1, 2, {0}, 0, 1, 0, 0});
  Steps(4);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(LastDone().run_ahead(), 2u);
  in_flight = 0;
  daemon.Orders(RunPairs{78, 0, 1, 2, {0}, 0, 1, 0, 0});
  Steps(4);
  EXPECT_TRUE(LastDone().has_run_ahead());
  EXPECT_EQ(LastDone().run_ahead(), 0u);
}

TEST_F(TimingTest, MoreStepsInFlightThanEverRanAreNoAnswer) {
  MakeTellRunAhead();
  Start();
  Prove(1, Behaviour::kGood);
  in_flight = 4'000'000'000u;
  daemon.Orders(RunPairs{77, 0, 1, 1, {0}, 2, 3, 0, 0});
  Steps(10);
  EXPECT_EQ(LastDone().complete(), 1u);
  EXPECT_FALSE(LastDone().has_run_ahead());
}

TEST_F(TimingTest, AHostSaysWhetherItMayRunAhead) {
  Start();
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kWorkloadSeen).back().workload_seen().queued(), 0u);
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 1);
  Steps(2);
  EXPECT_FALSE(LastDone().has_run_ahead());
  MakeQueued();
  Start();
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kWorkloadSeen).back().workload_seen().queued(), 1u);
}

TEST_F(TimingTest, FlagsOfAnyStepMarkTheUnit) {
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 1, {0}, 1, 2, 0, 0});
  Step(1000, BLZ_STEP_CHECKPOINT);
  Step();
  Step(1000, BLZ_STEP_EVALUATION);
  Steps(3);
  EXPECT_EQ(LastDone().units(0).flags(), 3u);
  EXPECT_EQ(LastDone().units(1).flags(), 0u);
}

TEST_F(TimingTest, WhatTheHostsRuntimeDidMarksTheUnitThatItFellInto) {
  MakeTellWhatHappened();
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 2, {0}, 1, 2, 0, 0});
  happened = BLZ_STEP_RECOMPILE;  // before the first unit's timed steps
  Steps(5);
  happened = BLZ_STEP_RECOMPILE;  // in the second's
  Steps(7);
  const auto done = LastDone();
  ASSERT_EQ(done.units_size(), 4);
  EXPECT_EQ(done.units(0).flags(), 0u);
  EXPECT_EQ(done.units(1).flags(), uint32_t{BLZ_STEP_RECOMPILE});
  EXPECT_EQ(done.units(2).flags(), 0u);
  EXPECT_EQ(done.units(0).host_ns(), 2 * 1000u + 50) << "warm step and what was asked left out";
  EXPECT_EQ(asked, 2 * 4);
}

TEST_F(TimingTest, ASlowChallengerEndsTheLeaseAsALoss) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 4, 5000);
  Step();
  Step(6000);
  EXPECT_EQ(Step(), 0u);
  const auto done = LastDone();
  ASSERT_EQ(done.units_size(), 2);
  EXPECT_EQ(done.units(1).flags(), uint32_t{v1::UNIT_FLAG_ABORTED});
  EXPECT_EQ(done.units(1).host_ns(), 6000u);
  EXPECT_EQ(done.complete(), 0u);
}

TEST_F(TimingTest, ASlowChampionIsNoLoss) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 1, 5000);
  Step(9000);
  Step();
  EXPECT_EQ(LastDone().units(0).flags(), 0u);
  EXPECT_EQ(LastDone().complete(), 1u);
}

TEST_F(TimingTest, AnAbortInTheFirstStepOfALongUnitDoesNotRunTheRest) {
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 1, {1}, 2, 8, 0, 5000});
  Step(6000);
  EXPECT_EQ(LastDone().units_size(), 1);
  EXPECT_EQ(Step(), 0u);
}

TEST_F(TimingTest, AfterTheDeadlineTheRestIsNotRun) {
  Start();
  Prove(1, Behaviour::kGood);
  RunPairs run{77, 0, 1, 4, {0}, 0, 1, 2500, 0};
  daemon.Orders(run);
  Steps(8);
  EXPECT_EQ(LastDone().units_size(), 3);
  EXPECT_EQ(LastDone().complete(), 0u);
}

TEST_F(TimingTest, AnAbsurdDeadlineDoesNotWrap) {
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 1, {0}, 0, 1, UINT64_MAX, UINT64_MAX});
  Steps(2);
  EXPECT_EQ(LastDone().complete(), 1u);
}

class LongestLease : public TimingTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(LongestLease, IsTenMinutesWhateverTheDaemonAsks) {
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 128, std::vector<uint8_t>(16), 0, 1, GetParam(), 0});
  for (int i = 0; i < 100; ++i) Step(60 * kSecond);
  EXPECT_EQ(LastDone().units_size(), 10);
  EXPECT_EQ(LastDone().complete(), 0u);
  EXPECT_EQ(ran.back(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Each, LongestLease,
                         testing::Values(0, Lease::kLongestNs, Lease::kLongestNs + 1, UINT64_MAX));

// A plan that is proven can still be a slow one; the daemon names no limit here.
TEST_F(TimingTest, AChallengerFarSlowerThanTheChampionEndsTheLeaseUnasked) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 8);
  Step(kMillisecond);
  Step(21 * kMillisecond);
  EXPECT_EQ(Step(), 0u);
  ASSERT_EQ(LastDone().units_size(), 2);
  EXPECT_EQ(LastDone().units(1).flags(), uint32_t{v1::UNIT_FLAG_ABORTED});
}

TEST_F(TimingTest, AnArmOfTheChampionsNameThatIsNotInUseIsLimitedToo) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderPairs(76, 0, 0, 1);
  Step(kMillisecond);
  Step(kMillisecond);
  OrderPairs(77, 1, 0, 8);
  EXPECT_EQ(Step(21 * kMillisecond), handle);
  EXPECT_EQ(LastDone().lease_id(), 77u);
  ASSERT_EQ(LastDone().units_size(), 1);
  EXPECT_EQ(LastDone().units(0).flags(), uint32_t{v1::UNIT_FLAG_ABORTED});
}

TEST_F(TimingTest, ThePlanInUseAndTheDefaultMayBeSlow) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  Step();
  OrderPairs(76, 1, 1, 1);
  Step(kMillisecond);
  Step(kMillisecond);
  OrderPairs(77, 1, 0, 1);
  Step(kMillisecond);
  Step(kSecond);
  EXPECT_EQ(LastDone().lease_id(), 77u);
  EXPECT_EQ(LastDone().complete(), 1u);
  OrderPairs(78, 1, 0, 1);
  Step(100 * kSecond);
  Step();
  EXPECT_EQ(LastDone().lease_id(), 78u);
  EXPECT_EQ(LastDone().complete(), 1u);
}

TEST_F(TimingTest, AServiceWindowSaysWhatAStepUsuallyTakes) {
  Start();
  Prove(1, Behaviour::kGood);
  while (step < 300) Step(kMillisecond);
  daemon.Orders(RunPairs{77, 0, 1, 8, {1}, 0, 1, 0, 0});
  Step(21 * kMillisecond);
  ASSERT_EQ(LastDone().units_size(), 1);
  EXPECT_EQ(LastDone().units(0).flags(), uint32_t{v1::UNIT_FLAG_ABORTED});
}

TEST_F(TimingTest, AnExpiredLeaseRunsNothing) {
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 1, {1}, 0, 1, 1, 0});
  clock.now += 10;
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(LastDone().units_size(), 0);
}

TEST_F(TimingTest, AStepBegunAndNotEndedStartsItsUnitAgain) {
  Start();
  Prove(1, Behaviour::kGood);
  daemon.Orders(RunPairs{77, 0, 1, 1, {0}, 0, 2, 0, 0});
  Step(100);
  engine->BeginStep(++step);
  clock.now += 1'000'000;
  Step(100);
  Step(100);
  Steps(2);
  EXPECT_EQ(LastDone().units(0).host_ns(), 200u);
}

// A lease can end between a step's begin and the next one; the end of that next step is no longer
// the lease's.
TEST_F(TimingTest, AStepBegunAndNotEndedGoesWithItsLeaseWhereTheDaemonStandsDown) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 4);
  Step();
  engine->BeginStep(++step);
  daemon.OrdersStand(1);
  EXPECT_EQ(Step(), 0u);
  ASSERT_EQ(daemon.Sent(v1::ShimMessage::kStepsDone).size(), 1u);
  EXPECT_EQ(LastDone().units_size(), 1);
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.units, 1u) << "a unit was timed after its lease had ended";
  Steps(3);
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kStepsDone).size(), 1u);
}

TEST_F(TimingTest, AStepBegunAndNotEndedGoesWithItsLeaseWhereTheSessionIsAFreshOne) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 4);
  engine->BeginStep(++step);
  daemon.Welcomes(WireMode::kTune, 2);
  Steps(3);
  EXPECT_TRUE(daemon.Sent(v1::ShimMessage::kStepsDone).empty());
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.units, 0u);
}

TEST_F(TimingTest, SixteenOfEvery256StepsMakeAWindow) {
  Start();
  for (int i = 0; i < 600; ++i) {
    clock.now += 5;
    Step(100);
  }
  ASSERT_EQ(daemon.windows.size(), 2u);
  EXPECT_EQ(daemon.windows[0].first_step, 256u);
  EXPECT_EQ(daemon.windows[0].steps, 16u);
  EXPECT_EQ(daemon.windows[0].host_ns, 1600u);
  EXPECT_EQ(daemon.windows[1].first_step, 512u);
}

TEST_F(TimingTest, AQueuedHostsWindowIsItsWholeSpan) {
  MakeQueued();
  Start();
  for (int i = 0; i < 300; ++i) {
    clock.now += 5;
    Step(100);
  }
  ASSERT_EQ(daemon.windows.size(), 1u);
  EXPECT_EQ(daemon.windows[0].host_ns, 1600u + 15 * 5);
  EXPECT_EQ(drains, 0);
}

TEST(ServiceTimerTest, StepsThatAreNotTimedAreCountedUpToTheNextThatIs) {
  for (uint64_t step = 1; step < 600; ++step) {
    const uint32_t free = ServiceTimer::Uncovered(step);
    for (uint64_t next = step; next < step + free; ++next) EXPECT_FALSE(ServiceTimer::Covers(next));
    EXPECT_TRUE(ServiceTimer::Covers(step + free));
  }
}

TEST_F(TimingTest, AFlaggedStepSpoilsItsWindow) {
  Start();
  for (int i = 1; i <= 300; ++i) Step(100, i == 260 ? BLZ_STEP_EVALUATION : 0);
  EXPECT_TRUE(daemon.windows.empty());
}

TEST_F(TimingTest, AWindowsMedianIsOfItsSingleSteps) {
  Start();
  while (step < 256 + ServiceTimer::kSteps) {
    clock.now += 333;  // between steps
    Step(step == 260 ? 100'000 : 1000);
  }
  ASSERT_EQ(daemon.windows.size(), 1u);
  EXPECT_EQ(daemon.windows[0].host_ns, 15u * 1000 + 100'000);
  EXPECT_EQ(daemon.windows[0].median_step_ns, 1000u);
}

TEST_F(TimingTest, AQueuedHostsMedianIsFromOneBeginToTheNext) {
  MakeQueued();
  Start();
  while (step < 256 + ServiceTimer::kSteps) {
    clock.now += 333;
    Step(step == 260 ? 100'000 : 1000);
  }
  ASSERT_EQ(daemon.windows.size(), 1u);
  EXPECT_EQ(daemon.windows[0].median_step_ns, 1333u);
}

TEST_F(TimingTest, AWindowIsOfOnePlan) {
  Start();
  Prove(1, Behaviour::kGood);
  while (step < 260) Step();
  OrderAdopt(1);
  while (step < 300) Step();
  EXPECT_TRUE(daemon.windows.empty());
  while (step < 600) Step();
  ASSERT_EQ(daemon.windows.size(), 1u);
  EXPECT_EQ(daemon.windows[0].variant, 1u);
}

TEST_F(TimingTest, AChampionWhoseSignatureChangedIsStoodDownByItsWindow) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1, true);
  EXPECT_EQ(Step(), handle);
  host.signatures[handle] = DigestOf(3);
  while (step < 300) Step();
  EXPECT_EQ(ran.back(), 0u);
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.champion, 0u);
  EXPECT_EQ(info.settled, 0u);
  EXPECT_EQ(info.settlement, BLZ_SETTLEMENT_NONE) << "no settled plan is in use";
  // No window of another plan under the settled one's name, and then what runs by its own.
  while (step < 1100) Step();
  ASSERT_EQ(daemon.windows.size(), 3u);
  for (const ServiceWindow& window : daemon.windows) EXPECT_EQ(window.variant, 0u);
  EXPECT_EQ(daemon.windows[0].first_step, 512u);
}

TEST_F(TimingTest, AnOrphanWhoseSignatureChangedIsStoodDownByItsWindow) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1, true);
  Step();
  daemon.Welcomes(WireMode::kTune, 2);
  while (step < 300) Step();
  EXPECT_EQ(ran.back(), handle);
  host.signatures[handle] = DigestOf(3);
  while (step < 550) Step();
  EXPECT_EQ(ran.back(), 0u);
  EXPECT_EQ(host.dropped, std::vector<uint64_t>{handle});
  // Asked for again it is built and proven afresh.
  OrderBuild(1, Behaviour::kGood);
  OrderAdopt(1);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(host.builds, 2);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_PROVEN);
}

}  // namespace
}  // namespace blazed::shim
