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

}  // namespace
}  // namespace blazed::sim
