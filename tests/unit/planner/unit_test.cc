#include "daemon/planner/unit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "daemon/planner/drain_cost.h"

namespace blazed::planner {
namespace {

constexpr uint64_t kStepNs = 5'000'000;

constexpr double kPoints = 32, kUnitsNs = kPoints * kStepNs;

QueueSigns Waits(double share, std::optional<uint32_t> run_ahead = {}) {
  return {run_ahead, share * kUnitsNs, kUnitsNs, kPoints};
}
QueueSigns Says(uint32_t run_ahead) { return Waits(0, run_ahead); }

TEST(UnitRule, IsASingleStepWhereTheHostWaitsInEachAnyway) {
  UnitRule rule;
  EXPECT_EQ(rule.Shape(false), (UnitShape{0, 1}));
  EXPECT_EQ(rule.Shape(true), (UnitShape{1, 1}));
  EXPECT_FALSE(rule.See({}, true));
  EXPECT_FALSE(rule.See(Says(0), false));
  EXPECT_FALSE(rule.queued());
}

TEST(UnitRule, IsTwoWarmAndEightTimedStepsWhereTheHostSaysThatItRunsAhead) {
  const UnitRule rule(true, kStepNs);
  EXPECT_EQ(rule.Shape(false), (UnitShape{2, 8}));
  EXPECT_EQ(rule.Shape(true), (UnitShape{4, 8}));
}

TEST(UnitRule, GetsLongerWithTheQueueAndNeverShorterAgain) {
  UnitRule rule(true, kStepNs);
  EXPECT_FALSE(rule.See(Says(8), false));
  EXPECT_TRUE(rule.See(Says(9), false));
  EXPECT_EQ(rule.Shape(false).timed, 16u);
  EXPECT_FALSE(rule.See(Says(2), true));
  EXPECT_FALSE(rule.See(Says(0), true));
  EXPECT_EQ(rule.Shape(false).timed, 16u);
  EXPECT_TRUE(rule.See(Says(64), false));
  EXPECT_FALSE(rule.See(Says(1000), false));
  EXPECT_EQ(rule.Shape(false).timed, UnitRule::kMostTimed);
}

TEST(UnitRule, BecomesSingleStepsOnlyOnNoiseOfAHostThatNeverRanAhead) {
  UnitRule raced(true, kStepNs);
  EXPECT_FALSE(raced.See(Says(0), false));
  EXPECT_TRUE(raced.See(Says(0), true));
  EXPECT_EQ(raced.Shape(false), (UnitShape{0, 1}));
  UnitRule silent(true, kStepNs);
  EXPECT_FALSE(silent.See({}, true)) << "it cannot tell, so it counts as one that runs ahead";
  UnitRule waiting(true, kStepNs);
  EXPECT_FALSE(waiting.See(Waits(0.2, 0), true)) << "its drained points say otherwise";
  EXPECT_TRUE(waiting.queued());
}

TEST(UnitRule, GrowsWhereAHostBeginsToRunAhead) {
  UnitRule rule(true, kStepNs);
  ASSERT_TRUE(rule.See(Says(0), true));
  EXPECT_TRUE(rule.See(Says(1), false));
  EXPECT_EQ(rule.Shape(false), (UnitShape{2, 8}));
  EXPECT_FALSE(rule.See(Says(0), true));
}

TEST(UnitRule, BelievesDrainedPointsMoreThanAHostThatDeniesItsQueue) {
  UnitRule rule;
  EXPECT_FALSE(rule.See(Waits(0.5), false)) << "one lease may be a hiccup";
  EXPECT_FALSE(rule.See(Waits(0.01), false));
  EXPECT_FALSE(rule.See(Waits(0.5), false));
  EXPECT_TRUE(rule.See(Waits(0.5, 0), false));
  EXPECT_EQ(rule.Shape(false), (UnitShape{2, 8}));
}

TEST(UnitRule, TakesTheTimeOfAskingForNoWait) {
  UnitRule rule;
  const double short_steps_ns = 100e3, asking_ns = 10e3;
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(rule.See({0, kPoints * asking_ns, kPoints * short_steps_ns, kPoints}, false));
  }
}

TEST(UnitRule, TakesAnAbsurdDepthForAQueueOfUnknownDepth) {
  for (const uint32_t absurd : {1025u, 4'000'000'000u, std::numeric_limits<uint32_t>::max()}) {
    UnitRule rule;
    EXPECT_TRUE(rule.See(Says(absurd), false));
    EXPECT_EQ(rule.Shape(false), (UnitShape{2, 8}));
  }
}

TEST(UnitRule, KeepsAPairWithinWhatALeaseMayTake) {
  for (const uint64_t step_s : {0, 1, 5, 10, 20, 40}) {
    UnitRule rule(true, step_s * 1'000'000'000);
    rule.See(Says(1024), false);
    EXPECT_GT(rule.Shape(true).timed, 1u) << step_s;
    EXPECT_LE(2 * rule.Shape(true).steps() * step_s, 400u) << step_s;
  }
}

TEST(UnitRule, SettlesInUnitsOfTwiceAsManyStepsWhereTheirEndsCouldPassForAGain) {
  constexpr double kLeastGain = 0.0025;
  UnitRule rule(true, kStepNs);
  rule.SeeFill(0.019, kLeastGain);
  EXPECT_EQ(rule.Shape(true), (UnitShape{4, 8}));
  rule.SeeFill(0.021, kLeastGain);
  EXPECT_EQ(rule.Shape(true), (UnitShape{4, 16}));
  EXPECT_EQ(rule.Shape(false), (UnitShape{2, 8})) << "a search may be wrong by that much";
  EXPECT_EQ(rule.CheckFactor(true), 10u) << "where a host that waits has two steps";
  EXPECT_EQ(rule.CheckFactor(false), 10u) << "where it has one";
  EXPECT_EQ(UnitRule().CheckFactor(true), 1u);
  EXPECT_EQ(UnitRule().CheckFactor(false), 1u);
  rule.SeeFill(-1, kLeastGain);
  EXPECT_EQ(rule.Shape(true), (UnitShape{4, 8}));
  UnitRule deep(true, kStepNs);
  deep.See(Says(64), false);
  deep.SeeFill(10, kLeastGain);
  EXPECT_EQ(deep.Shape(true).timed, UnitRule::kMostTimed);
}

TEST(PairsALease, AreFewerWhereUnitsAreLong) {
  EXPECT_EQ(PairsALease({0, 1}, 16), 16u);
  EXPECT_EQ(PairsALease({1, 1}, 16), 16u);
  EXPECT_EQ(PairsALease({2, 8}, 16), 4u);
  EXPECT_EQ(PairsALease({4, 64}, 16), 4u);
  EXPECT_EQ(PairsALease({2, 8}, 2), 2u);
}

std::vector<PairSample> Pairs(double unit_ns, uint32_t timed, int count) {
  std::vector<PairSample> pairs(static_cast<size_t>(count));
  for (PairSample& pair : pairs) pair.champion_ns = pair.challenger_ns = unit_ns / timed;
  return pairs;
}

constexpr double kStep = 100;

TEST(DrainCost, IsWhatUnitsOfTwoLengthsHaveInCommon) {
  DrainCost cost;
  EXPECT_EQ(cost.Charge({2, 8}, 10, 5000, false, 0), 5000u) << "nothing is known yet";
  EXPECT_EQ(cost.Charge({2, 8}, 10, 5000, false, kStep), 2000u) << "a step a point at most";
  EXPECT_EQ(cost.Charge({2, 4}, 10, 5000, true, kStep), 0u) << "the next lease tells";
  EXPECT_FALSE(cost.SawOtherThan({2, 8}));
  cost.Learn({2, 4}, Pairs(4 * 100 + 30, 4, 4));
  EXPECT_TRUE(cost.SawOtherThan({2, 8}));
  EXPECT_FALSE(cost.Measured().has_value());
  cost.Learn({2, 8}, Pairs(8 * 100 + 30, 8, 4));
  ASSERT_TRUE(cost.Measured().has_value());
  EXPECT_NEAR(cost.Measured()->point_ns, 30, 1e-6);
  EXPECT_NEAR(cost.Measured()->step_ns, 100, 1e-6);
  EXPECT_EQ(cost.Measured()->error_ns, 0);
  EXPECT_NEAR(cost.Charge({2, 8}, 10, 5000, true, kStep), 1200, 1) << "both";
  EXPECT_NEAR(cost.Charge({2, 8}, 10, 5000, false, kStep), 600, 1);
  EXPECT_NEAR(cost.Charge({0, 8}, 10, 5000, false, kStep), 300, 1);
  EXPECT_EQ(cost.Charge({2, 8}, 10, 50, false, kStep), 50u) << "never more than was waited";
}

TEST(DrainCost, IsOwedUntilItIsCharged) {
  DrainCost cost;
  EXPECT_EQ(cost.OwedNs(kStep), 0);
  cost.Charge({2, 8}, 10, 5000, true, kStep);
  EXPECT_EQ(cost.OwedNs(kStep), 2000) << "a step for each of two points a unit";
  EXPECT_EQ(cost.OwedNs(0), 5000);
  cost.Charge({2, 8}, 10, 100, true, kStep);
  EXPECT_EQ(cost.OwedNs(kStep), 4000);
  cost.ForgetLengths();
  EXPECT_EQ(cost.OwedNs(kStep), 4000) << "units of another shape pay for it";
  EXPECT_EQ(cost.Charge({2, 16}, 10, 5000, false, kStep), 6000u);
  EXPECT_EQ(cost.OwedNs(kStep), 0);
}

TEST(DrainCost, SaysHowFarOffItMayBe) {
  DrainCost cost;
  auto few = Pairs(430, 4, 16), many = Pairs(830, 8, 16);
  for (size_t i = 0; i < few.size(); ++i) {
    few[i].champion_ns *= i % 2 == 0 ? 1.02 : 0.98;
    few[i].challenger_ns *= i % 2 == 0 ? 1.02 : 0.98;
  }
  cost.Learn({2, 4}, few);
  cost.Learn({2, 8}, many);
  // 1.2533 x 1.4826 x 2 % of 430 / sqrt(32), and twice that: the point is read two units off.
  EXPECT_NEAR(cost.Measured()->error_ns, 2 * 1.2533 * 1.4826 * 8.6 / std::sqrt(32.0), 0.1);
}

TEST(DrainCost, IsNothingWhereLongUnitsAreNoDearerAStepAndUnknownWhereNoPairCounted) {
  DrainCost cost;
  cost.Learn({2, 4}, Pairs(390, 4, 4));
  cost.Learn({2, 8}, Pairs(810, 8, 4));
  EXPECT_EQ(cost.Charge({2, 8}, 10, 5000, false, kStep), 0u);
  DrainCost empty;
  auto excluded = Pairs(400, 4, 4);
  for (PairSample& pair : excluded) pair.excluded = true;
  empty.Learn({2, 4}, excluded);
  empty.Learn({2, 8}, Pairs(800, 8, 4));
  EXPECT_TRUE(empty.SawOtherThan({2, 8})) << "or it would be asked for again for ever";
  EXPECT_EQ(empty.Charge({2, 8}, 10, 5000, false, kStep), 2000u);
}

}  // namespace
}  // namespace blazed::planner
