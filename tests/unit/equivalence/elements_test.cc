#include "kernels/equivalence/elements.h"

#include <gtest/gtest.h>

namespace blazed::equivalence {
namespace {

TEST(Elements, HalfPrecisionValuesAreExact) {
  EXPECT_EQ(F16::Value(0x3c00), 1.0);
  EXPECT_EQ(F16::Value(0xc000), -2.0);
  EXPECT_EQ(F16::Value(0x7bff), 65504.0);
  EXPECT_EQ(F16::Value(0x0001), 0x1p-24);
  EXPECT_EQ(F16::Value(0x0400), 0x1p-14);
  EXPECT_EQ(Bf16::Value(0x3f80), 1.0);
  EXPECT_EQ(Bf16::Value(0xc040), -3.0);
}

TEST(Elements, ClassesOfEveryFormat) {
  EXPECT_EQ(F16::Classify(0x7c00), Class::kPositiveInf);
  EXPECT_EQ(F16::Classify(0xfc00), Class::kNegativeInf);
  EXPECT_EQ(F16::Classify(0x7c01), Class::kNan);
  EXPECT_EQ(Bf16::Classify(0x7f80), Class::kPositiveInf);
  EXPECT_EQ(Bf16::Classify(0xffc0), Class::kNan);
  EXPECT_EQ(F32::Classify(0x7f7fffff), Class::kFinite);
  EXPECT_EQ(F32::Classify(0xff800000), Class::kNegativeInf);
  EXPECT_EQ(F64::Classify(0x7ff0000000000001), Class::kNan);
}

TEST(Elements, UlpDistanceCountsThroughZero) {
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  EXPECT_EQ(F32::UlpDistance(bits(1.0f), bits(1.0f + 0x1p-23f)), 1u);
  EXPECT_EQ(F32::UlpDistance(bits(0.0f), bits(-0.0f)), 0u);
  EXPECT_EQ(F32::UlpDistance(0x00000001u, 0x80000001u), 2u);
  EXPECT_EQ(I32::UlpDistance(INT32_MIN, INT32_MAX), 0xffffffffu);
  EXPECT_EQ(I64::UlpDistance(INT64_MAX, INT64_MIN), ~uint64_t{0});
}

TEST(Elements, EveryNanIsOneClass) {
  EXPECT_EQ(F32::CanonicalBits(0x7fc00000u), F32::CanonicalBits(0xffc12345u));
  EXPECT_NE(F32::CanonicalBits(0x7f800000u), F32::CanonicalBits(0x7fc00000u));
}

}  // namespace
}  // namespace blazed::equivalence
