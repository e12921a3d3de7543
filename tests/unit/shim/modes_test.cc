#include <gtest/gtest.h>

#include "tests/unit/shim/engine_fixture.h"

namespace blazed::shim {
namespace {

using ModesTest = EngineTest;

TEST_F(ModesTest, ObserveNeverBuildsProbesOrAdopts) {
  config.mode = BLZ_MODE_OBSERVE;
  Start(WireMode::kObserve);
  OrderBuild(1, Behaviour::kGood);
  OrderProbe(1);
  OrderAdopt(1);
  Steps(3);
  EXPECT_EQ(host.builds, 0);
  EXPECT_EQ(daemon.Refusals().size(), 3u);
}

TEST_F(ModesTest, ObserveTimesTheDefaultAgainstItself) {
  config.mode = BLZ_MODE_OBSERVE;
  Start(WireMode::kObserve);
  OrderPairs(77, 0, 0, 2);
  Steps(5);
  const auto done = daemon.Sent(v1::ShimMessage::kStepsDone);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].steps_done().units_size(), 4);
}

TEST_F(ModesTest, ADaemonThatGrantsMoreThanAskedChangesNothing) {
  config.mode = BLZ_MODE_OBSERVE;
  Start(WireMode::kTune);
  OrderBuild(1, Behaviour::kGood);
  Step();
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
}

TEST_F(ModesTest, AGrantOfLessIsObeyedWithItsReason) {
  daemon.link.welcome.mode_reason = "policy allows observing only";
  Start(WireMode::kObserve);
  OrderBuild(1, Behaviour::kGood);
  EXPECT_EQ(engine->reason(), "policy allows observing only");
  Step();
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
}

TEST_F(ModesTest, AnUnknownGrantIsTheLowest) {
  Start(static_cast<WireMode>(77));
  OrderBuild(1, Behaviour::kGood);
  Step();
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
}

TEST_F(ModesTest, PinnedAdoptsSettledPlansAndRunsNoTrials) {
  config.mode = BLZ_MODE_PINNED;
  Start(WireMode::kPinned);
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1);
  Step();
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
  OrderAdopt(1, false);
  EXPECT_EQ(Step(), 0u);
  OrderAdopt(1, true);
  EXPECT_EQ(Step(), handle);
}

// A plan against itself is no comparison, but it runs.
TEST_F(ModesTest, PinnedTimesOnlyWhatRunsAnyway) {
  config.mode = BLZ_MODE_PINNED;
  Start(WireMode::kPinned);
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderPairs(77, 1, 1);
  Steps(4);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
  EXPECT_EQ(ran, std::vector<uint64_t>(4, 0));
  OrderAdopt(1, true);
  OrderPairs(78, 1, 1, 1);
  OrderPairs(79, 0, 0, 1);
  ran.clear();
  Steps(4);
  EXPECT_EQ(ran, (std::vector<uint64_t>{handle, handle, 0, 0}));
  EXPECT_EQ(daemon.Refusals().size(), 1u);
}

TEST_F(ModesTest, FreezingEndsTheTimingOfAPlanThatIsNotInUse) {
  config.mode = BLZ_MODE_TUNE_UNTIL;
  config.tune_until_steps = 10;
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderPairs(77, 1, 1, 64);
  Steps(20);
  EXPECT_EQ(ran[5], handle);
  EXPECT_EQ(ran.back(), 0u);
  OrderPairs(78, 1, 1, 1);
  Step();
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
}

TEST_F(ModesTest, TuneUntilFreezesAfterItsSteps) {
  config.mode = BLZ_MODE_TUNE_UNTIL;
  config.tune_until_steps = 10;
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  Step();
  OrderPairs(77, 1, 0, 64);
  Steps(20);
  const auto done = daemon.Sent(v1::ShimMessage::kStepsDone);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].steps_done().units_size(), 5);
  EXPECT_EQ(ran.back(), handle);
  OrderBuild(2, Behaviour::kGood);
  OrderAdopt(0);
  OrderAdopt(1);
  Step();
  EXPECT_EQ(host.builds, 1);
}

TEST_F(ModesTest, TuneUntilFreezesAfterItsTime) {
  config.mode = BLZ_MODE_TUNE_UNTIL;
  config.tune_until_ns = 1'000'000;
  Start();
  clock.now += 1'000'000;
  OrderBuild(1, Behaviour::kGood);
  Step();
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_TUNING);
}

TEST_F(ModesTest, DescriptionsBeyondTheLimitsAreRefusedWithASentence) {
  Start();
  blz_graph graph{};
  EXPECT_EQ(engine->DescribeGraph(&graph), BLZ_INVALID);
  EXPECT_NE(engine->reason(), "");
  EXPECT_EQ(engine->DescribeGraph(nullptr), BLZ_INVALID);
  blz_workload workload{};
  EXPECT_EQ(engine->DescribeWorkload(&workload), BLZ_INVALID);
  EXPECT_EQ(engine->DescribeWorkload(nullptr), BLZ_INVALID);
}

TEST_F(ModesTest, ProgressIsInTheStatus) {
  Start();
  Progress progress;
  progress.phase = 3;
  progress.candidates = 5;
  progress.gain = 0.125;
  progress.forecast_window_ns = 9;
  progress.note = "racing";
  daemon.Reports(progress);
  Step();
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.phase, BLZ_PHASE_SEARCH);
  EXPECT_EQ(info.candidates, 5u);
  EXPECT_EQ(info.gain, 0.125);
  EXPECT_EQ(info.forecast_window_ns, 9u);
  EXPECT_STREQ(info.note, "racing");
  progress.phase = 1000;
  daemon.Reports(progress);
  Step();
  engine->FillStatus(info);
  EXPECT_EQ(info.phase, BLZ_PHASE_NONE);
}

}  // namespace
}  // namespace blazed::shim
