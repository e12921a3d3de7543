#include "client/sim/estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/planner/random.h"

namespace blazed::sim {
namespace {

TEST(Estimate, GivesWilsonsIntervalOfARate) {
  const Estimate rate = RateOf(5, 100);
  EXPECT_DOUBLE_EQ(rate.value, 0.05);
  EXPECT_NEAR(rate.low, 0.0215, 1e-4);
  EXPECT_NEAR(rate.high, 0.1118, 1e-4);
  EXPECT_DOUBLE_EQ(RateOf(0, 200).low, 0);
  EXPECT_NEAR(RateOf(0, 200).high, 0.0188, 1e-4);
  EXPECT_DOUBLE_EQ(RateOf(7, 7).high, 1);
  EXPECT_DOUBLE_EQ(RateOf(0, 0).high, 1);
}

TEST(Estimate, SaysOfHowManyItIs) {
  EXPECT_EQ(RateOf(5, 100).n, 100u);
  EXPECT_EQ(RateOf(0, 0).n, 0u);
  EXPECT_EQ(MedianOf({3, 1, 2}).n, 3u);
  EXPECT_EQ(MedianOf({}).n, 0u);
  EXPECT_EQ(RatioOf({1, 2}, {0, 4}, 1).n, 2u);
  EXPECT_EQ(RatioOf({0, 0}, {0, 0}, 1).n, 0u);
  EXPECT_EQ(MeanOf({1, 2, 3}, 1).n, 3u);
  EXPECT_EQ(RateOverRuns({1, 0}, {7, 2}, 1).n, 9u);
}

TEST(Estimate, HoldsAMedianByOrderStatistics) {
  std::vector<double> values;
  for (int i = 20; i >= 1; --i) values.push_back(i);
  const Estimate median = MedianOf(values);
  EXPECT_DOUBLE_EQ(median.value, 10.5);
  // P(Binomial(20, 1/2) < 6) is 2.07 %, and 5.8 % below 7.
  EXPECT_DOUBLE_EQ(median.low, 6);
  EXPECT_DOUBLE_EQ(median.high, 15);
  EXPECT_DOUBLE_EQ(MedianOf({3, 1, 2}).low, 1);
  EXPECT_DOUBLE_EQ(MedianOf({3, 1, 2}).high, 3);
  EXPECT_TRUE(std::isnan(MedianOf({}).value));
  // Counts whose binomial terms leave the range of a double.
  EXPECT_LT(MedianOf(std::vector<double>(5000, 1.0)).low, 2);
}

// In nine of ten repetitions and more the interval has to hold what the runs were drawn from.
TEST(Estimate, CoversARatioByResampling) {
  planner::Random random(11);
  int covered = 0;
  for (int repetition = 0; repetition < 200; ++repetition) {
    std::vector<double> parts, wholes;
    for (int i = 0; i < 60; ++i) {
      wholes.push_back(0.5 + random.Uniform());
      parts.push_back(wholes.back() * (0.4 + 0.4 * random.Uniform()));
    }
    const Estimate ratio = RatioOf(parts, wholes, random.Next());
    EXPECT_LE(ratio.low, ratio.value);
    EXPECT_GE(ratio.high, ratio.value);
    covered += ratio.low <= 0.6 && 0.6 <= ratio.high;
  }
  EXPECT_GE(covered, 180);
  EXPECT_LT(covered, 200);
  EXPECT_DOUBLE_EQ(RatioOf({}, {}, 1).value, 0);
  EXPECT_DOUBLE_EQ(RatioOf({1}, {0}, 1).value, 0);
}

// All races of a run share its fate: as if each stood for itself, the interval would be too short.
TEST(Estimate, CoversARateOfRacesByResamplingRuns) {
  planner::Random random(12);
  int covered = 0, as_if_alone = 0;
  for (int repetition = 0; repetition < 200; ++repetition) {
    std::vector<double> hits, all;
    uint64_t hit = 0, races = 0;
    for (int i = 0; i < 60; ++i) {
      all.push_back(1 + static_cast<double>(random.Below(20)));
      hits.push_back(random.Uniform() < 0.3 ? all.back() : 0);
      hit += static_cast<uint64_t>(hits.back());
      races += static_cast<uint64_t>(all.back());
    }
    const Estimate rate = RateOverRuns(hits, all, random.Next()), alone = RateOf(hit, races);
    covered += rate.low <= 0.3 && 0.3 <= rate.high;
    as_if_alone += alone.low <= 0.3 && 0.3 <= alone.high;
  }
  EXPECT_GE(covered, 178);
  EXPECT_LT(as_if_alone, 150);
}

TEST(Estimate, GivesARateOfRacesTheErrorOfItsRunsWhereAllAgree) {
  const std::vector<double> races(40, 25.0), none(40, 0.0);
  EXPECT_DOUBLE_EQ(RateOverRuns(none, races, 1).value, 0);
  EXPECT_DOUBLE_EQ(RateOverRuns(none, races, 1).high, RateOf(0, 40).high);
  EXPECT_DOUBLE_EQ(RateOverRuns(races, races, 1).low, RateOf(40, 40).low);
  EXPECT_DOUBLE_EQ(RateOverRuns({0, 0, 0}, {0, 9, 0}, 1).high, RateOf(0, 1).high);
}

}  // namespace
}  // namespace blazed::sim
