#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/isa/table.h"

namespace blazed::cpu {
namespace {

struct Shape {
  int64_t batch, seq, heads, dim;
};

// Forward and backward of one shape in one form, on given tensors.
struct FormRun {
  std::vector<float> out, statistics, d_qkv;
};

FormRun RunForm(const Shape& s, const std::vector<float>& qkv, const std::vector<float>& d_out,
                bool streamed) {
  const KernelTable& kernels = KernelsFor(0);
  FormRun run;
  run.out.resize(d_out.size());
  run.statistics.resize(static_cast<size_t>(s.batch * s.seq * 2 * s.heads));
  run.d_qkv.resize(qkv.size());
  std::vector<float> scratch(static_cast<size_t>(AttentionScratchFloats(s.seq, s.dim)), NAN);
  std::vector<float> weights(
      static_cast<size_t>(streamed ? 0 : AttentionWeightsFloats(s.batch, s.heads, s.seq)), NAN);
  AttentionArgs args;
  args.qkv = qkv.data();
  args.out = run.out.data();
  args.statistics = run.statistics.data();
  args.batch = s.batch;
  args.seq = s.seq;
  args.heads = s.heads;
  args.dim = s.dim;
  args.last = s.batch * s.heads;
  args.weights = weights.data();
  args.scratch = scratch.data();
  args.d_out = d_out.data();
  args.d_qkv = run.d_qkv.data();
  (streamed ? kernels.attention_streamed : kernels.attention_materialised)(args);
  (streamed ? kernels.attention_grad_streamed : kernels.attention_grad_materialised)(args);
  return run;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> Draw(std::mt19937_64* random, int64_t count, float spread) {
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& v : x) v = normal(*random);
  return x;
}

void ExpectSame(const Shape& s, float spread, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int64_t width = s.heads * s.dim;
  const std::vector<float> qkv = Draw(&random, s.batch * s.seq * 3 * width, spread);
  const std::vector<float> d_out = Draw(&random, s.batch * s.seq * width, 1.0f);
  const FormRun whole = RunForm(s, qkv, d_out, false);
  const FormRun blocks = RunForm(s, qkv, d_out, true);
  EXPECT_TRUE(SameBits(whole.out, blocks.out)) << "seq " << s.seq << " spread " << spread;
  EXPECT_TRUE(SameBits(whole.statistics, blocks.statistics)) << "seq " << s.seq;
  EXPECT_TRUE(SameBits(whole.d_qkv, blocks.d_qkv)) << "seq " << s.seq << " spread " << spread;
}

TEST(Attention, StreamsToTheSameBitsAsItMaterialises) {
  for (const int64_t seq : {1, 2, 15, 63, 64, 65, 127, 128, 129, 200, 321}) {
    ExpectSame({2, seq, 2, 16}, 1.0f, static_cast<uint64_t>(seq));
    ExpectSame({1, seq, 3, 7}, 2.0f, static_cast<uint64_t>(seq) + 1000);
  }
}

// Scores spread over hundreds of powers of two: the guarded rows are walked again.
TEST(Attention, StreamsToTheSameBitsOnExtremeScores) {
  for (const float spread : {4.0f, 8.0f, 16.0f, 60.0f}) ExpectSame({1, 200, 2, 16}, spread, 3);
}

// A later key that dominates must not depend on when it was met. Its value is zero, so that what
// counts are weights near the end of the range.
TEST(Attention, StreamsToTheSameBitsWhenDominatingKeysHaveNoValue) {
  const Shape s = {1, 192, 1, 4};
  std::mt19937_64 random(8);
  std::vector<float> qkv = Draw(&random, s.seq * 12, 0.1f);
  for (int64_t t = 0; t < s.seq; ++t) {
    float* row = qkv.data() + t * 12;
    row[0] = 16.0f;
    row[4] = t % 64 == 63 ? static_cast<float>(t / 16) : -static_cast<float>(t % 7);
    if (t % 64 == 63) std::fill(row + 8, row + 12, 0.0f);
  }
  const std::vector<float> d_out = Draw(&random, s.seq * 4, 1.0f);
  const FormRun whole = RunForm(s, qkv, d_out, false);
  const FormRun blocks = RunForm(s, qkv, d_out, true);
  EXPECT_TRUE(SameBits(whole.out, blocks.out));
  EXPECT_TRUE(SameBits(whole.d_qkv, blocks.d_qkv));
}

TEST(Attention, LetsNoLaterTokenTouchAnEarlierRow) {
  const Shape s = {1, 100, 2, 8};
  std::mt19937_64 random(4);
  std::vector<float> qkv = Draw(&random, s.seq * 48, 1.0f);
  const std::vector<float> d_out = Draw(&random, s.seq * 16, 1.0f);
  for (const bool streamed : {false, true}) {
    const FormRun before = RunForm(s, qkv, d_out, streamed);
    std::vector<float> changed = qkv;
    for (size_t i = 70 * 48; i < changed.size(); ++i) changed[i] += 1.0f;
    const FormRun after = RunForm(s, changed, d_out, streamed);
    EXPECT_EQ(std::memcmp(before.out.data(), after.out.data(), 70 * 16 * sizeof(float)), 0);
    EXPECT_FALSE(SameBits(before.out, after.out));
  }
}

TEST(Attention, PassesNanOn) {
  const Shape s = {1, 80, 1, 8};
  std::mt19937_64 random(6);
  std::vector<float> qkv = Draw(&random, s.seq * 24, 1.0f);
  qkv[10 * 24] = NAN;  // the query of row 10
  const std::vector<float> d_out = Draw(&random, s.seq * 8, 1.0f);
  for (const bool streamed : {false, true}) {
    const FormRun run = RunForm(s, qkv, d_out, streamed);
    EXPECT_TRUE(std::isnan(run.out[10 * 8])) << streamed;
    EXPECT_FALSE(std::isnan(run.out[9 * 8])) << streamed;
  }
}

// Control: with the usual real-valued maximum the two orders differ, so the comparison above can
// fail.
TEST(Attention, WouldDifferWithARealValuedMaximum) {
  std::mt19937_64 random(9);
  std::normal_distribution<float> normal(0.0f, 3.0f);
  int differing = 0;
  for (int row = 0; row < 200; ++row) {
    float score[128], value[128];
    for (int k = 0; k < 128; ++k) {
      score[k] = normal(random);
      value[k] = normal(random);
    }
    float result[2];
    for (int mode = 0; mode < 2; ++mode) {
      const int block = mode == 0 ? 128 : 64;
      float top = -INFINITY, sum = 0.0f, total = 0.0f;
      for (int k0 = 0; k0 < 128; k0 += block) {
        float next = top;
        for (int k = k0; k < k0 + block; ++k) next = std::max(next, score[k]);
        const float rescale = std::exp2(top - next);
        sum *= rescale;
        total *= rescale;
        top = next;
        for (int k = k0; k < k0 + block; ++k) {
          const float p = std::exp2(score[k] - top);
          total += p;
          sum = std::fma(p, value[k], sum);
        }
      }
      result[mode] = sum / total;
    }
    differing += result[0] != result[1];
  }
  EXPECT_GT(differing, 20);
}

}  // namespace
}  // namespace blazed::cpu
