#include "daemon/planner/drift.h"

#include <gtest/gtest.h>

#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

TEST(DriftTimer, DoublesAfterOkUpToItsLimit) {
  DriftTimer timer;
  for (uint64_t gap : {500, 1000, 2000, 4000, 8000, 16000, 16000}) {
    timer = AfterOk(timer);
    EXPECT_EQ(timer.gap_steps, gap);
    EXPECT_EQ(timer.steps_left, gap);
  }
}

TEST(DriftTimer, HalvesAfterInconclusiveDownToItsFirstGap) {
  DriftTimer timer{1, 1000, 0};
  for (uint64_t gap : {500, 250, 250}) {
    timer = AfterInconclusive(timer);
    EXPECT_EQ(timer.gap_steps, gap);
  }
}

TEST(DriftTimer, ComesBackSoonAfterAnAlarmThatPairsDidNotSettle) {
  EXPECT_EQ(AfterUnclearAlarm({1, 16000, 0}), (DriftTimer{1, 250, 250}));
}

TEST(DriftTimer, StartsAQuarterBackInAnotherProcess) {
  EXPECT_EQ(ForNewProcess({1, 16000, 9}).gap_steps, 4000u);
  EXPECT_EQ(ForNewProcess({1, 500, 9}).gap_steps, 250u);
}

TEST(DriftTimer, GivesChecksThatAreDearerGapsOfAsManyTimes) {
  constexpr uint64_t kFactor = 10;
  DriftTimer timer = FirstGap(7, kFactor);
  EXPECT_EQ(timer, (DriftTimer{7, 2500, 2500}));
  EXPECT_EQ(FirstGap(7, 1), (DriftTimer{7, 250, 250}));
  EXPECT_EQ(AfterInconclusive(timer, kFactor).gap_steps, 2500u);
  EXPECT_EQ(AfterOk(timer, kFactor).gap_steps, 5000u);
  for (int i = 0; i < 12; ++i) timer = AfterOk(timer, kFactor);
  EXPECT_EQ(timer.gap_steps, 160'000u);
  EXPECT_EQ(ForNewProcess(timer, kFactor).gap_steps, 40'000u);
  // The next process may wait in each step where this one did not.
  EXPECT_EQ(AfterOk(timer, 1).gap_steps, 16'000u);
}

TEST(DriftTimer, CountsStepsOverProcesses) {
  EXPECT_EQ(ForNewProcess({1, 16000, 9}).steps_left, 9u);
  EXPECT_EQ(ForNewProcess({1, 16000, 9000}).steps_left, 4000u);
  EXPECT_EQ(ForNewProcess({1, 250, 250}).steps_left, 250u);
}

TEST(DriftTimer, IsDueWhenItsStepsHavePassed) {
  DriftTimer timer;
  EXPECT_FALSE(CountSteps(timer, 249));
  EXPECT_TRUE(CountSteps(timer, 1));
  EXPECT_TRUE(CountSteps(timer, ~0ull));
}

TEST(DriftDetector, CallsAClearAdvantageOk) {
  DriftDetector detector;
  detector.StartBurst();
  for (int i = 0; i < 60 && detector.state() == DriftDetector::State::kRunning; ++i) {
    detector.Add(0.05, 0.01);
  }
  EXPECT_EQ(detector.state(), DriftDetector::State::kOk);
}

TEST(DriftDetector, DemotesAPlanThatLostItsAdvantageAcrossBursts) {
  DriftDetector detector;
  Random random(8);
  int pairs = 0;
  while (detector.state() != DriftDetector::State::kDemote && pairs < 1000) {
    if (detector.state() != DriftDetector::State::kRunning || pairs == 0) detector.StartBurst();
    detector.Add(-0.02 + 0.015 * random.Normal(), 0.015);
    ++pairs;
  }
  EXPECT_LT(pairs, 60) << "seed 8";
}

TEST(DriftDetector, KeepsAPlanThatIsStillFasterForever) {
  Random random(21);
  DriftDetector detector;
  for (int burst = 0; burst < 400; ++burst) {
    detector.StartBurst();
    while (detector.state() == DriftDetector::State::kRunning) {
      detector.Add(0.01 + 0.015 * random.Normal(), 0.015);
    }
    ASSERT_NE(detector.state(), DriftDetector::State::kDemote) << "burst " << burst << " seed 21";
  }
}

TEST(DriftDetector, EndsABurstOfNoiseInconclusive) {
  DriftDetector detector;
  detector.StartBurst();
  for (int i = 0; i < 60; ++i) detector.Add(i % 2 == 0 ? 0.01 : -0.01, 0.01);
  EXPECT_EQ(detector.state(), DriftDetector::State::kInconclusive);
}

}  // namespace
}  // namespace blazed::planner
