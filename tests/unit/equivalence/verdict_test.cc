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
  for (size_t i = 0; i < b.size(); ++i) b[i] += i % 2 == 0 ? 1e-3f : -1e-3f;
  TensorResult tensor = Result(a, b);
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kRejectedDifferent);
  tensor.own = OwnErrorFrom(tensor.difference);
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kRounding);
}

TEST(Verdict, TheOwnErrorIsInSharesOfTheTensor) {
  const std::vector<float> a{3, -4, 0}, b{3, -4.5f, 0.5f};
  const OwnError own = OwnErrorFrom(Result(a, b).difference);
  EXPECT_DOUBLE_EQ(own.element, 0.5 / 4);
  EXPECT_DOUBLE_EQ(own.rms, std::sqrt(0.5 / 25));
  EXPECT_DOUBLE_EQ(own.gain, 4 * 0.5 / 25);
  const std::vector<float> zero{0, 0, 0};
  const OwnError whole = OwnErrorFrom(Result(zero, a).difference);
  EXPECT_DOUBLE_EQ(whole.element, 1);
  EXPECT_DOUBLE_EQ(whole.rms, 1);
  EXPECT_DOUBLE_EQ(whole.gain, 0);
}

// Random errors of this share of each element.
std::vector<float> Blurred(std::vector<float> values, float by, uint64_t seed) {
  const auto draws = Normal(values.size(), by, seed);
  for (size_t i = 0; i < values.size(); ++i) values[i] *= 1 + draws[i];
  return values;
}

TensorResult Blurry(float own, const std::vector<float>& variant, bool referenced = true) {
  const auto exact = Normal(4096, 1);
  const auto a = Blurred(exact, own, kSeed + 2);
  TensorResult tensor = Result(a, variant);
  tensor.own = OwnErrorFrom(Result(a, exact).difference);
  tensor.own.referenced = referenced;
  return tensor;
}

class OwnErrors : public testing::TestWithParam<float> {};

TEST_P(OwnErrors, ExplainAnErrorOfTheSameKind) {
  const auto b = Blurred(Normal(4096, 1), GetParam(), kSeed + 3);
  EXPECT_EQ(JudgeOne(Contract::kRounding, Blurry(GetParam(), b)), Verdict::kRounding);
}

TEST_P(OwnErrors, HideNoScale) {
  auto b = Blurred(Normal(4096, 1), GetParam(), kSeed + 3);
  for (float& value : b) value *= 1.1f;
  EXPECT_EQ(JudgeOne(Contract::kRounding, Blurry(GetParam(), b)), Verdict::kRejectedDifferent);
}

TEST_P(OwnErrors, HideNoLostTailNorAnotherBatchNorASwappedOperand) {
  const auto good = Blurred(Normal(4096, 1), GetParam(), kSeed + 3);
  auto tail = good, swapped = good;
  std::fill(tail.end() - 8, tail.end(), 0.0f);
  std::reverse(swapped.begin(), swapped.end());
  for (const auto& bad : {tail, swapped, Normal(4096, 1, kSeed + 4)}) {
    EXPECT_EQ(JudgeOne(Contract::kRounding, Blurry(GetParam(), bad)), Verdict::kRejectedDifferent);
  }
}

// TF32, bf16, bf16 through many layers, the largest that is judged.
INSTANTIATE_TEST_SUITE_P(Shares, OwnErrors, testing::Values(3e-4f, 3e-3f, 2e-2f, 5e-2f));

TEST(Verdict, AnOwnErrorTooLargeToJudgeByIsInconclusive) {
  const auto b = Blurred(Normal(4096, 1), 0.2f, kSeed + 3);
  EXPECT_EQ(JudgeOne(Contract::kRounding, Blurry(0.2f, b)), Verdict::kInconclusive);
  // One that moves the whole tensor along itself is as little to judge by.
  TensorResult tensor = Blurry(1e-3f, b);
  tensor.own.gain = 0.04;
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensor), Verdict::kInconclusive);
}

TEST(Verdict, WhatTheTypeExplainsNeedsNoOwnError) {
  const auto exact = Normal(4096, 1);
  const auto a = Blurred(exact, 0.2f, kSeed + 2);
  auto b = a;
  b[0] = std::nextafter(b[0], 9.0f);
  EXPECT_EQ(JudgeOne(Contract::kRounding, Blurry(0.2f, b)), Verdict::kRounding);
}

TEST(Verdict, ANamedArithmeticIsAllowedItsRoundingsAndNoMore) {
  const auto exact = Normal(4096, 1);
  const auto judged = [&](double u, const std::vector<float>& b) {
    TensorResult tensor = Result(exact, b);
    tensor.unit_roundoff = u;
    return JudgeOne(Contract::kRounding, tensor);
  };
  const auto tf32 = Blurred(exact, 3e-4f, kSeed + 3), bf16 = Blurred(exact, 2.5e-3f, kSeed + 3);
  EXPECT_EQ(judged(0, tf32), Verdict::kRejectedDifferent);
  EXPECT_EQ(judged(0x1p-11, tf32), Verdict::kRounding);
  EXPECT_EQ(judged(0x1p-11, bf16), Verdict::kRejectedDifferent);
  EXPECT_EQ(judged(0x1p-8, bf16), Verdict::kRounding);
  const auto scaled = [&](float by) {
    auto b = exact;
    for (float& value : b) value *= by;
    return b;
  };
  EXPECT_EQ(judged(0x1p-11, scaled(1.01f)), Verdict::kRejectedDifferent);
  EXPECT_EQ(judged(0x1p-8, scaled(1.1f)), Verdict::kRejectedDifferent);
}

TEST(Verdict, NoiseInAVanishingGradientPassesBesideALargeOne) {
  const std::vector<TensorResult> tensors{
      Result({1, 2, 3}, {1, 2, 3}, Role::kGradient, 0, "weight"),
      Result({1e-7f, -2e-7f}, {-1e-7f, 1e-7f}, Role::kGradient, 0, "key_bias")};
  EXPECT_EQ(Judge(Contract::kRounding, tensors).verdict, Verdict::kRounding);
  EXPECT_EQ(JudgeOne(Contract::kRounding, tensors[1]), Verdict::kRejectedDifferent);
}

// The noise of coarse arithmetic was seen, so only what is noise passes as such.
TEST(Verdict, WithAReferenceASmallGradientThatIsNoNoiseIsJudged) {
  const auto judged = [](const std::vector<float>& exact, const std::vector<float>& a,
                         const std::vector<float>& b, bool referenced) {
    const std::vector<float> large{1, -2, 3};
    std::vector<TensorResult> tensors{Result(large, large, Role::kGradient, 0, "weight"),
                                      Result(a, b, Role::kGradient, 0, "bias")};
    tensors[1].own = OwnErrorFrom(Result(a, exact).difference);
    for (TensorResult& tensor : tensors) {
      tensor.own.referenced = referenced;
      tensor.unit_roundoff = 0x1p-8;
    }
    return Judge(Contract::kRounding, tensors).verdict;
  };
  const std::vector<float> zero{0, 0}, noise{0.01f, -0.02f}, other{-0.02f, 0.01f};
  EXPECT_EQ(judged(zero, noise, other, true), Verdict::kRounding);
  EXPECT_EQ(judged({0.0101f, -0.0201f}, noise, zero, true), Verdict::kRejectedDifferent);
  EXPECT_EQ(judged({0.0101f, -0.0201f}, noise, zero, false), Verdict::kRounding);
  // Too large for noise.
  EXPECT_EQ(judged(zero, {0.5f, -0.6f}, {-0.5f, 0.6f}, true), Verdict::kInconclusive);
}

float ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1)) & 0xffff0000u);
}

// Residual layers h += relu(h W) / 4 as bf16 jobs run them: products of bf16 operands summed in
// f32. `Rounding` says where results are rounded: nowhere, after each layer, after each operation.
enum class Rounding { kNone, kLayers, kOperations };

class Layers {
 public:
  static constexpr size_t kWidth = 64, kRows = 32, kDepth = 8;

  explicit Layers(uint64_t seed = kSeed) : x_(Normal(kRows * kWidth, 1, seed)) {
    for (size_t i = 0; i < kDepth; ++i) w_.push_back(Normal(kWidth * kWidth, 0.18f, kSeed + 9 + i));
  }
  void SwapOperand(size_t layer) {
    auto& w = w_[layer];
    for (size_t i = 0; i < kWidth; ++i) {
      for (size_t j = 0; j < i; ++j) std::swap(w[i * kWidth + j], w[j * kWidth + i]);
    }
  }
  void DropLastTerms(size_t layer) {
    std::fill(w_[layer].end() - 4 * kWidth, w_[layer].end(), 0.0f);
  }
  std::vector<float> Run(Rounding rounding) const {
    const auto operand = [&](float v) { return rounding == Rounding::kNone ? v : ToBf16(v); };
    const auto step = [&](float v) { return rounding == Rounding::kOperations ? ToBf16(v) : v; };
    std::vector<float> h = x_;
    for (const auto& w : w_) {
      std::vector<float> next(h.size());
      for (size_t row = 0; row < kRows; ++row) {
        for (size_t j = 0; j < kWidth; ++j) {
          float sum = 0;
          for (size_t i = 0; i < kWidth; ++i) {
            sum += operand(h[row * kWidth + i]) * operand(w[i * kWidth + j]);
          }
          const float moved = step(std::max(0.0f, step(sum)) / 4);
          next[row * kWidth + j] = operand(h[row * kWidth + j] + moved);
        }
      }
      h = std::move(next);
    }
    return h;
  }

 private:
  std::vector<float> x_;
  std::vector<std::vector<float>> w_;
};

Verdict JudgeInBf16(const std::vector<float>& variant) {
  const Layers layers;
  const auto a = layers.Run(Rounding::kLayers);
  TensorResult tensor = Result(a, variant);
  tensor.own = OwnErrorFrom(Result(a, layers.Run(Rounding::kNone)).difference);
  tensor.own.referenced = true;
  return JudgeOne(Contract::kRounding, tensor);
}

TEST(Bf16Layers, ThatRoundInOtherPlacesAreRounding) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  EXPECT_EQ(JudgeInBf16(Layers().Run(Rounding::kOperations)), Verdict::kRounding);
  EXPECT_EQ(JudgeInBf16(Layers().Run(Rounding::kNone)), Verdict::kRounding);
}

TEST(Bf16Layers, WithAFaultAreRejected) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Layers swapped, dropped;
  swapped.SwapOperand(3);
  dropped.DropLastTerms(Layers::kDepth - 1);
  auto scaled = Layers().Run(Rounding::kLayers);
  for (float& value : scaled) value *= 1.1f;
  for (const auto& bad : {swapped.Run(Rounding::kLayers), dropped.Run(Rounding::kLayers), scaled,
                          Layers(kSeed + 50).Run(Rounding::kLayers)}) {
    EXPECT_EQ(JudgeInBf16(bad), Verdict::kRejectedDifferent);
  }
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
