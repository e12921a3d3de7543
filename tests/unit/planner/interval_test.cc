#include "daemon/planner/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

TEST(ConfidenceInterval, CoversTheEffectAtEveryLook) {
  constexpr int kRuns = 100;
  int missed = 0;
  for (int run = 0; run < kRuns; ++run) {
    Random random(static_cast<uint64_t>(run) + 400);
    std::vector<double> ratios, scales;
    bool covered = true;
    for (int i = 0; i < 200; ++i) {
      ratios.push_back(0.01 + 0.015 * random.Normal());
      scales.push_back(0.015);
      if (i % 20 != 19) continue;
      const Interval at = ConfidenceInterval(ratios, scales, 0.05);
      covered = covered && at.low <= 0.01 && 0.01 <= at.high;
    }
    missed += covered ? 0 : 1;
  }
  EXPECT_LE(missed, kRuns * 0.05 + 3 * std::sqrt(kRuns * 0.05 * 0.95)) << "seeds 400 to 499";
}

TEST(PercentText, IsTheSavingThatTablesShow) {
  EXPECT_EQ(PercentText(0.02), "2.0 %");
  EXPECT_EQ(PercentText(0.1278), "12.0 %");
  EXPECT_EQ(PercentText(-0.1278), "13.6 %") << "slower by";
  EXPECT_EQ(PercentText(-64), "a factor of seven or more");
}

TEST(ConfidenceInterval, OfAFewPairsIsOpenAndSaysSo) {
  const Interval few = SavingOf(ConfidenceInterval({0.02, 0.03}, {0.015, 0.015}, 0.05));
  EXPECT_TRUE(IsOpenBelow(few));
  EXPECT_TRUE(IsOpenAbove(few));
  const std::vector<double> ratios(60, 0.02), scales(60, 0.015);
  const Interval many = SavingOf(ConfidenceInterval(ratios, scales, 0.05));
  EXPECT_FALSE(IsOpenBelow(many));
  EXPECT_FALSE(IsOpenAbove(many));
}

TEST(ConfidenceInterval, NarrowsWithPairs) {
  Random random(5);
  std::vector<double> ratios, scales;
  for (int i = 0; i < 1000; ++i) {
    ratios.push_back(0.03 + 0.015 * random.Normal());
    scales.push_back(0.015);
  }
  const std::vector<double> some(ratios.begin(), ratios.begin() + 40);
  const Interval wide = ConfidenceInterval(some, {scales.begin(), scales.begin() + 40}, 0.05);
  const Interval narrow = ConfidenceInterval(ratios, scales, 0.05);
  EXPECT_GT(wide.low, 0);
  EXPECT_LT(narrow.high - narrow.low, (wide.high - wide.low) / 2);
  EXPECT_NEAR(narrow.estimate, 0.03, 0.003);
}

TEST(ConfidenceInterval, HoldsLargeEffectsAsItHoldsSmallOnes) {
  for (double effect : {-3.0, -0.4, -0.21, 0.21, 0.4, 3.0}) {
    Random random(6);
    std::vector<double> ratios, scales;
    for (int i = 0; i < 200; ++i) {
      ratios.push_back(effect + 0.015 * random.Normal());
      scales.push_back(0.015);
    }
    const Interval interval = ConfidenceInterval(ratios, scales, 0.05);
    EXPECT_LE(interval.low, effect);
    EXPECT_GE(interval.high, effect);
    EXPECT_LE(interval.low, interval.estimate);
    EXPECT_GE(interval.high, interval.estimate);
    EXPECT_LT(interval.high - interval.low, 0.02) << effect;
  }
}

TEST(ConfidenceInterval, LeavesAnEndOpenThatNothingRefutes) {
  const std::vector<double> ratios(3, -0.4), scales(3, 0.015);
  const Interval few = ConfidenceInterval(ratios, scales, 0.05);
  EXPECT_LE(few.low, -2);
  EXPECT_GE(few.high, 2);
  const Interval none = ConfidenceInterval({}, {}, 0.05);
  EXPECT_LE(none.low, -2);
  EXPECT_GE(none.high, 2);
}

TEST(SavingOf, TurnsALogRatioIntoASharesOfTheStep) {
  const Interval saving = SavingOf({std::log(2.0), 0, std::log(4.0)});
  EXPECT_DOUBLE_EQ(saving.estimate, 0.5);
  EXPECT_DOUBLE_EQ(saving.low, 0);
  EXPECT_DOUBLE_EQ(saving.high, 0.75);
}

}  // namespace
}  // namespace blazed::planner
