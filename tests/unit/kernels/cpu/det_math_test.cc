// The elementary functions, compiled here for the plainest level; kernel_levels_test compares the
// levels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#define BLAZED_ISA det_math_test
#include "kernels/cpu/isa/det_math.h"

namespace blazed::cpu::det_math_test {
namespace {

float At(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// FNV-1a over little-endian bytes, every NaN as one.
class Digest {
 public:
  void Add(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    if (std::isnan(x)) bits = 0x7fc00000u;
    for (int i = 0; i < 4; ++i) {
      hash_ ^= (bits >> (8 * i)) & 255u;
      hash_ *= 1099511628211ull;
    }
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 1469598103934665603ull;
};

// The digest that nine builds (two compilers, three libraries' headers, four optimisation levels,
// x86-64 and aarch64) agreed on for these functions. A change of it changes the numeric form: raise
// the epoch in the fingerprint and say why in docs/adr.
TEST(DetMath, KeepsItsDigest) {
  constexpr uint32_t kStride = 4099;
  Digest digest;
  uint64_t next = 0;
  while (next < 0x100000000ull) {
    float x[kLanes], r[6][kLanes];
    int count = 0;
    for (; count < kLanes && next < 0x100000000ull; ++count, next += kStride) {
      x[count] = At(static_cast<uint32_t>(next));
    }
    const V v = LoadPart(x, count);
    Store(r[0], DetExp2(v));
    Store(r[1], DetExp(v));
    Store(r[2], DetLog(v));
    Store(r[3], DetTanh(v));
    Store(r[4], DetErf(v));
    Store(r[5], DetInverseSqrt(Abs(v)));
    for (int i = 0; i < count; ++i) {
      for (const auto& row : r) digest.Add(row[i]);
    }
  }
  EXPECT_EQ(digest.value(), 0x0d0743ee092f8ab4ull);
}

// Largest error in units of the last place over [low, high].
template <class F, class G>
double WorstUlp(float low, float high, F f, G exact) {
  constexpr int kPoints = 100000;
  double worst = 0.0;
  for (int i = 0; i < kPoints; i += kLanes) {
    float x[kLanes], y[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      x[lane] = low + (high - low) * static_cast<float>(i + lane) / kPoints;
    }
    Store(y, f(Load(x)));
    for (int lane = 0; lane < kLanes; ++lane) {
      const double truth = exact(static_cast<double>(x[lane]));
      const float rounded = std::fabs(static_cast<float>(truth));
      const double ulp = std::nextafter(rounded, INFINITY) - rounded;
      worst = std::max(worst, std::fabs(y[lane] - truth) / ulp);
    }
  }
  return worst;
}

TEST(DetMath, StaysWithinItsErrorBounds) {
  EXPECT_LT(WorstUlp(-80.0f, 80.0f, DetExp, [](double x) { return std::exp(x); }), 1.1);
  EXPECT_LT(WorstUlp(-120.0f, 120.0f, DetExp2, [](double x) { return std::exp2(x); }), 0.9);
  EXPECT_LT(WorstUlp(1e-6f, 50.0f, DetLog, [](double x) { return std::log(x); }), 1.0);
  EXPECT_LT(WorstUlp(-9.0f, 9.0f, DetTanh, [](double x) { return std::tanh(x); }), 1.4);
  EXPECT_LT(WorstUlp(-3.9f, 3.9f, DetErf, [](double x) { return std::erf(x); }), 2.6);
}

TEST(DetMath, PassesNanAndTheEdgesOn) {
  const V nan = Broadcast(NAN);
  for (const V v : {DetExp(nan), DetExp2(nan), DetLog(nan), DetTanh(nan), DetErf(nan),
                    DetSigmoid(nan), DetGelu(nan), DetGeluSlope(nan)}) {
    EXPECT_TRUE(std::isnan(First(v)));
  }
  EXPECT_EQ(First(DetExp(Broadcast(200.0f))), INFINITY);
  EXPECT_EQ(First(DetExp(Broadcast(-200.0f))), 0.0f);
  EXPECT_EQ(First(DetLog(Broadcast(0.0f))), -INFINITY);
  EXPECT_TRUE(std::isnan(First(DetLog(Broadcast(-1.0f)))));
  EXPECT_EQ(First(DetTanh(Broadcast(-50.0f))), -1.0f);
  EXPECT_EQ(First(DetGelu(Broadcast(40.0f))), 40.0f);
}

// Control: another number of lanes is another order, and the sum shows it.
TEST(TreeSum, DependsOnItsOrder) {
  int differing = 0;
  uint32_t state = 1;
  for (int round = 0; round < 200; ++round) {
    float x[kLanes];
    float chain = 0.0f;
    for (float& value : x) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
      chain += value;
    }
    differing += TreeSum(Load(x)) != chain;
  }
  EXPECT_GT(differing, 50);
}

}  // namespace
}  // namespace blazed::cpu::det_math_test
