#include "kernels/equivalence/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace blazed::equivalence {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Difference CompareFloats(const std::vector<float>& a, const std::vector<float>& b,
                         Role role = Role::kOutput, uint64_t row = 0) {
  const TensorView reference{"t", Dtype::kF32, role, a.size(), a.data(), row};
  const TensorView variant{"t", Dtype::kF32, role, b.size(), b.data(), row};
  return Compare(reference, variant, 0);
}

TEST(Compare, EqualTensorsDifferInNothing) {
  const Difference d = CompareFloats({1, -2, kNan, kInf}, {1, -2, kNan, kInf});
  EXPECT_EQ(d.elements, 4u);
  EXPECT_EQ(d.mismatches, 0u);
  EXPECT_EQ(d.nan_default, 1u);
  EXPECT_EQ(d.nan_variant, 1u);
  EXPECT_EQ(d.inf_default, 1u);
  EXPECT_EQ(d.broken, 0u);
  EXPECT_EQ(d.digest_default, d.digest_variant);
}

TEST(Compare, MeasuresTheLargestDifference) {
  const Difference d = CompareFloats({1, 2, 4}, {1, 2.5f, std::nextafter(4.0f, 5.0f)});
  EXPECT_EQ(d.mismatches, 2u);
  EXPECT_EQ(d.max_abs, 0.5);
  EXPECT_EQ(d.max_rel, 0.2);
  EXPECT_EQ(d.max_ulp, uint64_t{1} << 21);
  EXPECT_EQ(d.max_default, 4);
  EXPECT_EQ(d.sum_squares_default, 21);
  EXPECT_NE(d.digest_default, d.digest_variant);
}

TEST(Compare, TellsBrokenFromHealed) {
  const Difference d =
      CompareFloats({1, 1, kInf, kNan, kInf, kInf}, {kNan, kInf, -kInf, 1, kNan, 2});
  EXPECT_EQ(d.broken, 4u);
  EXPECT_EQ(d.healed, 2u);
  EXPECT_EQ(d.nan_default, 1u);
  EXPECT_EQ(d.nan_variant, 2u);
  EXPECT_EQ(d.inf_default, 3u);
  EXPECT_EQ(d.inf_variant, 2u);
  EXPECT_EQ(d.max_abs, 0);
}

TEST(Compare, SignedZerosMismatchButLieNoStepApart) {
  const Difference d = CompareFloats({0.0f}, {-0.0f});
  EXPECT_EQ(d.mismatches, 1u);
  EXPECT_EQ(d.max_ulp, 0u);
  EXPECT_EQ(d.max_abs, 0);
}

TEST(Compare, CountsPredictionsRowByRow) {
  const Difference d =
      CompareFloats({1, 2, 3, 9, 8, 7, 5}, {1, 4, 3, 9, 8.5f, 7, 6}, Role::kPrediction, 3);
  EXPECT_EQ(d.predictions, 3u);
  EXPECT_EQ(d.prediction_disagreements, 1u);
}

TEST(Compare, OneRowWhereNoneIsNamed) {
  const Difference d = CompareFloats({1, 2, 3}, {1, 2, 0}, Role::kPrediction);
  EXPECT_EQ(d.predictions, 1u);
  EXPECT_EQ(d.prediction_disagreements, 1u);
}

TEST(Compare, RowLongerThanTheTensorIsOneRow) {
  const Difference d = CompareFloats({1, 2}, {1, 2}, Role::kPrediction, ~uint64_t{0});
  EXPECT_EQ(d.predictions, 1u);
  EXPECT_EQ(d.prediction_disagreements, 0u);
}

TEST(Compare, IntegerPredictionsAreTheElements) {
  const std::vector<int64_t> a{1, 2, INT64_MIN};
  const std::vector<int64_t> b{1, 3, INT64_MAX};
  const TensorView reference{"t", Dtype::kI64, Role::kPrediction, 3, a.data(), 0};
  const TensorView variant{"t", Dtype::kI64, Role::kPrediction, 3, b.data(), 0};
  const Difference d = Compare(reference, variant, 0);
  EXPECT_EQ(d.predictions, 3u);
  EXPECT_EQ(d.prediction_disagreements, 2u);
  EXPECT_EQ(d.max_ulp, ~uint64_t{0});
}

TEST(Compare, ReadsUnalignedTensors) {
  alignas(8) unsigned char bytes[9] = {};
  const float one = 1;
  std::memcpy(bytes + 1, &one, 4);
  std::memcpy(bytes + 5, &one, 4);
  const TensorView view{"t", Dtype::kF32, Role::kOutput, 2, bytes + 1, 0};
  EXPECT_EQ(Compare(view, view, 0).max_default, 1);
}

TEST(Compare, HalfPrecision) {
  const uint16_t a[] = {0x3c00, 0x7c00};
  const uint16_t b[] = {0x3c01, 0x7c01};
  for (const Dtype dtype : {Dtype::kF16}) {
    const TensorView reference{"t", dtype, Role::kOutput, 2, a, 0};
    const TensorView variant{"t", dtype, Role::kOutput, 2, b, 0};
    const Difference d = Compare(reference, variant, 0);
    EXPECT_EQ(d.max_ulp, 1u);
    EXPECT_EQ(d.max_abs, 0x1p-10);
    EXPECT_EQ(d.broken, 1u);
  }
}

TEST(Compare, ShapesMustAgreeInEverything) {
  const float data[4] = {};
  const TensorView base{"t", Dtype::kF32, Role::kPrediction, 4, data, 2};
  TensorView other = base;
  EXPECT_TRUE(SameShape(base, other));
  other.row = 4;
  EXPECT_FALSE(SameShape(base, other));
  other = base;
  other.name = "u";
  EXPECT_FALSE(SameShape(base, other));
  other = base;
  other.count = 3;
  EXPECT_FALSE(SameShape(base, other));
  other = base;
  other.dtype = Dtype::kI32;
  EXPECT_FALSE(SameShape(base, other));
}

}  // namespace
}  // namespace blazed::equivalence
