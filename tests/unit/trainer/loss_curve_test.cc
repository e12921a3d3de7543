#include "client/trainer/job/loss_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "client/trainer/job/step_times.h"

namespace blazed::trainer {
namespace {

LossCurve CurveOf(int count, int odd_one = -1) {
  LossCurve curve;
  for (int i = 0; i < count; ++i) {
    const float loss = 1.0f / static_cast<float>(i + 1);
    curve.Add(i == odd_one ? std::nextafter(loss, 2.0f) : loss);
  }
  return curve;
}

TEST(LossCurve, DigestsAreEqualExactlyWhereEveryBitIs) {
  for (const int count : {1, 100, 4096, 4097, 10'000}) {
    SCOPED_TRACE(count);
    EXPECT_EQ(CurveOf(count).Digest(), CurveOf(count).Digest());
    EXPECT_NE(CurveOf(count).Digest(), CurveOf(count, count / 2).Digest());
    EXPECT_NE(CurveOf(count).Digest(), CurveOf(count + 1).Digest());
  }
}

TEST(LossCurve, KeepsAnEvenlySpreadFewOfManyPoints) {
  for (const int count : {5, 128, 129, 1000, 54'321}) {
    const LossCurve curve = CurveOf(count);
    const auto& points = curve.points();
    ASSERT_LE(points.size(), LossCurve::kMostPoints);
    ASSERT_GE(points.size(), std::min<size_t>(static_cast<size_t>(count), 60));
    EXPECT_EQ(points.front().first, 0);
    const int64_t stride = points.size() > 1 ? points[1].first : 1;
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(points[i].first, static_cast<int64_t>(i) * stride);
    }
    EXPECT_LT(count - points.back().first, 2 * stride);
  }
}

TEST(LossCurve, SmoothsOverSteps) {
  LossCurve curve;
  for (int i = 0; i < 200; ++i) curve.Add(i % 2 == 0 ? 1.0f : 3.0f);
  EXPECT_NEAR(curve.smoothed(), 2.0, 0.1);
  EXPECT_EQ(curve.first(), 1.0f);
  EXPECT_EQ(curve.last(), 3.0f);
}

TEST(LossCurve, ABrokenLossShowsAndIsNotSmoothedAway) {
  LossCurve curve = CurveOf(10);
  curve.Add(NAN);
  EXPECT_TRUE(std::isnan(curve.smoothed()));
}

TEST(StepTimes, TheMedianIsOfTheLatestSteps) {
  StepTimes times;
  EXPECT_EQ(times.MedianNs(), 0);
  times.Add(absl::Nanoseconds(7));
  EXPECT_EQ(times.MedianNs(), 7);
  for (size_t i = 0; i < StepTimes::kKept; ++i) times.Add(absl::Nanoseconds(100));
  times.Add(absl::Seconds(1));
  EXPECT_EQ(times.MedianNs(), 100);
}

}  // namespace
}  // namespace blazed::trainer
