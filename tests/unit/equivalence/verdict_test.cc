#include "kernels/equivalence/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace blazed::equivalence {
namespace {

constexpr uint64_t kSeed = 20260731;

std::vector<float> Normal(size_t count, float sd, uint64_t seed = kSeed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> draw(0, sd);
  std::vector<float> values(count);
  for (float& value : values) value = draw(random);
  return values;
}

TensorResult Result(const std::vector<float>& a, const std::vector<float>& b,
                    Role role = Role::kGradient, uint64_t row = 0, const char* name = "t") {
  const TensorView reference{name, Dtype::kF32, role, a.size(), a.data(), row};
  const TensorView variant{name, Dtype::kF32, role, b.size(), b.data(), row};
  return {name, Dtype::kF32, role, Compare(reference, variant, 0), {}};
}

Verdict JudgeOne(Contract contract, const TensorResult& tensor) {
  return Judge(contract, std::span(&tensor, 1)).verdict;
}

// y[j] = sum_i x[i] * w[i][j], summed in f32 in the order given by `blocks` partial sums.
std::vector<float> MatrixVector(const std::vector<float>& x, const std::vector<float>& w,
                                size_t blocks) {
  const size_t n = x.size();
  const size_t m = w.size() / n;
  std::vector<float> y(m);
  for (size_t j = 0; j < m; ++j) {
    std::vector<float> partial(blocks, 0.0f);
    for (size_t i = 0; i < n; ++i) partial[i % blocks] += x[i] * w[i * m + j];
    for (const float p : partial) y[j] += p;
  }
  return y;
}

float ToTf32(float value) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffffe000u);
}

class ReorderedSums : public testing::TestWithParam<size_t> {};

TEST_P(ReorderedSums, AreRoundingAndNotIdentical) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const size_t n = GetParam();
  const auto x = Normal(n, 1), w = Normal(n * 64, 0.1f, kSeed + 1);
  const TensorResult tensor = Result(MatrixVector(x, w, 1), MatrixVector(x, w, 8));
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kRounding);
  EXPECT_EQ(JudgeOne(Contract::kBitwise, tensor), Verdict::kRejectedDifferent);
}

TEST_P(ReorderedSums, InLowerPrecisionAreRejected) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const size_t n = GetParam();
  auto x = Normal(n, 1), w = Normal(n * 64, 0.1f, kSeed + 1);
  const auto exact = MatrixVector(x, w, 1);
  std::transform(x.begin(), x.end(), x.begin(), ToTf32);
  std::transform(w.begin(), w.end(), w.begin(), ToTf32);
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(exact, MatrixVector(x, w, 1))),
            Verdict::kRejectedDifferent);
}

TEST_P(ReorderedSums, WithTheLastTermDroppedAreRejected) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const size_t n = GetParam();
  auto x = Normal(n, 1), w = Normal(n * 64, 0.1f, kSeed + 1);
  const auto exact = MatrixVector(x, w, 1);
  x.back() = 0;
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(exact, MatrixVector(x, w, 1))),
            Verdict::kRejectedDifferent);
}

INSTANTIATE_TEST_SUITE_P(Lengths, ReorderedSums, testing::Values(64, 512, 4096, 16384));

TEST(Verdict, EqualBitsAreIdenticalUnderEveryContract) {
  const auto a = Normal(100, 1);
  const TensorResult tensor = Result(a, a, Role::kPrediction, 10);
  for (const auto contract : {Contract::kBitwise, Contract::kRounding, Contract::kPrediction}) {
    EXPECT_EQ(JudgeOne(contract, tensor), Verdict::kIdentical);
  }
}

TEST(Verdict, NothingComparedIsNothingToCheck) {
  EXPECT_EQ(Judge(Contract::kRounding, {}).verdict, Verdict::kNothingToCheck);
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result({}, {})), Verdict::kNothingToCheck);
  const auto a = Normal(10, 1);
  EXPECT_EQ(JudgeOne(Contract::kPrediction, Result(a, a, Role::kOutput)), Verdict::kNothingToCheck);
}

TEST(Verdict, OneNanIsBrokenUnderEveryContract) {
  const auto a = Normal(100, 1);
  auto b = a;
  b[57] = std::numeric_limits<float>::quiet_NaN();
  for (const auto contract : {Contract::kBitwise, Contract::kRounding, Contract::kPrediction}) {
    EXPECT_EQ(JudgeOne(contract, Result(a, b, Role::kPrediction, 10)), Verdict::kRejectedBroken);
  }
}

TEST(Verdict, OneInfIsBroken) {
  const auto a = Normal(100, 1);
  auto b = a;
  b[3] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(a, b)), Verdict::kRejectedBroken);
}

TEST(Verdict, ANanThatTheDefaultHasTooIsNoFault) {
  auto a = Normal(100, 1);
  a[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(a, a)), Verdict::kIdentical);
}

TEST(Verdict, ANanThatTheVariantLacksIsADifference) {
  auto a = Normal(100, 1);
  const auto b = a;
  a[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(a, b)), Verdict::kRejectedDifferent);
}

TEST(Verdict, AZeroedTileIsRejected) {
  const auto a = Normal(1000, 1e-3f);
  auto b = a;
  std::fill(b.end() - 8, b.end(), 0.0f);
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(a, b)), Verdict::kRejectedDifferent);
}

TEST(Verdict, ASmallShiftOfEveryElementIsRejected) {
  const auto a = Normal(1000, 1);
  auto b = a;
  for (float& value : b) value *= 1 + 1e-5f;
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(a, b)), Verdict::kRejectedDifferent);
}

TEST(Verdict, AFlippedPredictionIsRejectedHoweverSmallTheDifference) {
  const std::vector<float> a{1.0f, std::nextafter(1.0f, 2.0f), 0.0f};
  const std::vector<float> b{std::nextafter(1.0f, 2.0f), 1.0f, 0.0f};
  EXPECT_EQ(JudgeOne(Contract::kRounding, Result(a, b, Role::kOutput)), Verdict::kRounding);
  for (const auto contract : {Contract::kRounding, Contract::kPrediction}) {
    EXPECT_EQ(JudgeOne(contract, Result(a, b, Role::kPrediction, 3)), Verdict::kRejectedDifferent);
  }
}

TEST(Verdict, PredictionContractToleratesDistanceThatKeepsThePrediction) {
  const TensorResult tensor = Result({1, 2, 3}, {0, 0, 1}, Role::kPrediction, 3);
  EXPECT_EQ(JudgeOne(Contract::kPrediction, tensor), Verdict::kRounding);
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kRejectedDifferent);
}

TEST(Verdict, AnUnstableDefaultWidensTheBoundByItsOwnSpread) {
  const auto a = Normal(1000, 1);
  auto b = a;
  for (float& value : b) value += 1e-3f;
  TensorResult tensor = Result(a, b);
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kRejectedDifferent);
  tensor.own = {1e-3, 1e-3, 1e-3};
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kRounding);
}

TEST(Verdict, ADefaultThatDoesNotRepeatItselfIsInconclusive) {
  const auto a = Normal(1000, 1);
  auto b = a;
  b[0] += 0.5f;
  TensorResult tensor = Result(a, b);
  tensor.own = {0.5, 0.1, 0.5};
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kInconclusive);
}

TEST(Verdict, NoiseInAVanishingGradientPassesBesideALargeOne) {
  const std::vector<TensorResult> tensors{
      Result({1, 2, 3}, {1, 2, 3}, Role::kGradient, 0, "weight"),
      Result({1e-7f, -2e-7f}, {-1e-7f, 1e-7f}, Role::kGradient, 0, "key_bias")};
  EXPECT_EQ(Judge(Contract::kRounding, tensors).verdict, Verdict::kRounding);
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensors[1]), Verdict::kRejectedDifferent);
}

TEST(Verdict, IntegersMustBeEqual) {
  const int32_t a[] = {1, 2};
  const int32_t b[] = {1, 3};
  const TensorView reference{"t", Dtype::kI32, Role::kOutput, 2, a, 0};
  const TensorView variant{"t", Dtype::kI32, Role::kOutput, 2, b, 0};
  const TensorResult tensor{"t", Dtype::kI32, Role::kOutput, Compare(reference, variant, 0), {}};
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kRejectedDifferent);
}

TEST(Verdict, OneNeighbourInBf16IsRoundingAndAFewPercentAreNot) {
  std::vector<uint16_t> a(256, 0x3f80), b = a, c = a;
  b[7] = 0x3f81;
  for (uint16_t& word : c) word = 0x3f88;
  const auto judge = [&](const std::vector<uint16_t>& other) {
    const TensorView reference{"t", Dtype::kBf16, Role::kOutput, a.size(), a.data(), 0};
    const TensorView variant{"t", Dtype::kBf16, Role::kOutput, other.size(), other.data(), 0};
    return JudgeOne(Contract::kRounding,
                    {"t", Dtype::kBf16, Role::kOutput, Compare(reference, variant, 0), {}});
  };
  EXPECT_EQ(judge(b), Verdict::kRounding);
  EXPECT_EQ(judge(c), Verdict::kRejectedDifferent);
}

TEST(Verdict, TheWorstTensorIsNamedWithItsBound) {
  auto a = Normal(100, 1), b = a;
  b[0] = std::nextafter(b[0], 9.0f);
  auto c = a;
  c[0] += 1;
  const std::vector<TensorResult> tensors{Result(a, b, Role::kGradient, 0, "good"),
                                          Result(a, c, Role::kGradient, 0, "bad")};
  const Summary summary = Judge(Contract::kRounding, tensors);
  EXPECT_EQ(summary.verdict, Verdict::kRejectedDifferent);
  EXPECT_EQ(summary.worst_tensor, "bad");
  EXPECT_NEAR(summary.allowed_max_rel, 1024 * 0x1p-24, 1e-9);
  EXPECT_EQ(summary.elements, 200u);
  EXPECT_EQ(summary.mismatches, 2u);
}

TEST(Verdict, MergedProbesKeepTheSternestVerdict) {
  const auto a = Normal(100, 1);
  auto b = a;
  b[0] += 1;
  const TensorResult same = Result(a, a), other = Result(a, b);
  Summary merged;
  Merge(merged, Judge(Contract::kRounding, std::span(&same, 1)));
  EXPECT_EQ(merged.verdict, Verdict::kIdentical);
  Merge(merged, Judge(Contract::kRounding, std::span(&other, 1)));
  Merge(merged, Judge(Contract::kRounding, std::span(&same, 1)));
  EXPECT_EQ(merged.verdict, Verdict::kRejectedDifferent);
  EXPECT_EQ(merged.probes, 3u);
  EXPECT_EQ(merged.elements, 300u);
}

}  // namespace
}  // namespace blazed::equivalence
