// Every kernel gives the same bits at every vector level.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/isa/table.h"

namespace blazed::cpu {
namespace {

constexpr int64_t kRows = 37;
constexpr int64_t kPeriod = 37;

std::vector<float> Draw(std::mt19937_64* random, int64_t count, bool positive) {
  std::normal_distribution<float> normal(0.0f, 2.0f);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& v : x) v = positive ? std::fabs(normal(*random)) + 0.01f : normal(*random);
  return x;
}

// Runs `op` on operands large enough for any reading of them.
std::vector<float> RunTile(const KernelTable& kernels, graph::OpKind op, int64_t cols,
                           uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool positive = op == graph::OpKind::kSqrtAdd || op == graph::OpKind::kInverseSqrt;
  const int64_t count = kRows * cols;
  std::vector<std::vector<float>> in;
  for (int i = 0; i < 5; ++i) in.push_back(Draw(&random, count, positive || i == 3));
  std::vector<int32_t> ids(kRows);
  for (int32_t& id : ids) id = static_cast<int32_t>(random() % static_cast<uint64_t>(cols));
  std::vector<float> out(static_cast<size_t>(std::max(count, cols * cols)));
  std::vector<float> state(static_cast<size_t>(ColumnSumStateFloats(kRows, cols)));
  TileArgs args;
  for (size_t i = 0; i < in.size(); ++i) args.in[i] = in[i].data();
  args.ids = ids.data();
  args.out = out.data();
  args.rows = args.total_rows = kRows;
  args.cols = cols;
  args.table_rows = cols;
  args.alpha = 0.9f;
  args.beta = 0.1f;
  args.period = kPeriod;
  args.state = state.data();
  if (op == graph::OpKind::kGather) {
    for (int32_t& id : ids) id %= static_cast<int32_t>(kRows);
  }
  kernels.tile[static_cast<size_t>(op)](args);
  return out;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return false;
  }
  return a.size() == b.size();
}

std::vector<const KernelTable*> OtherLevels() {
  std::vector<const KernelTable*> tables;
  for (const int level : {3, 4}) {
    if (KernelsFor(level).level == level) tables.push_back(&KernelsFor(level));
  }
  return tables;
}

TEST(KernelLevels, AreKnown) {
  EXPECT_EQ(KernelsFor(1).level, 1);
  const int best = OtherLevels().empty() ? 1 : OtherLevels().back()->level;
  EXPECT_EQ(KernelsFor(0).level, best);
}

TEST(KernelLevels, GiveTheSameBitsForEveryTileOperation) {
  for (int op = 0; op < graph::kOpKindCount; ++op) {
    const auto kind = static_cast<graph::OpKind>(op);
    if (KernelsFor(1).tile[op] == nullptr) continue;
    for (const int64_t cols : {1, 7, 16, 33, 129}) {
      const std::vector<float> plain = RunTile(KernelsFor(1), kind, cols, 99);
      for (const KernelTable* table : OtherLevels()) {
        EXPECT_TRUE(SameBits(plain, RunTile(*table, kind, cols, 99)))
            << graph::OpName(kind) << " cols " << cols << " level " << table->level;
      }
    }
  }
}

struct AttentionRun {
  std::vector<float> out, statistics, d_qkv;
};

AttentionRun RunAttention(const KernelTable& kernels, int64_t seq, int64_t dim) {
  std::mt19937_64 random(5);
  constexpr int64_t kBatch = 2, kHeads = 3;
  const int64_t width = kHeads * dim;
  const std::vector<float> qkv = Draw(&random, kBatch * seq * 3 * width, false);
  const std::vector<float> d_out = Draw(&random, kBatch * seq * width, false);
  AttentionRun run;
  run.out.resize(static_cast<size_t>(kBatch * seq * width));
  run.statistics.resize(static_cast<size_t>(kBatch * seq * 2 * kHeads));
  run.d_qkv.resize(qkv.size());
  std::vector<float> scratch(static_cast<size_t>(AttentionScratchFloats(seq, dim)));
  AttentionArgs args;
  args.qkv = qkv.data();
  args.out = run.out.data();
  args.statistics = run.statistics.data();
  args.batch = kBatch;
  args.seq = seq;
  args.heads = kHeads;
  args.dim = dim;
  args.last = kBatch * kHeads;
  args.scratch = scratch.data();
  args.d_out = d_out.data();
  args.d_qkv = run.d_qkv.data();
  kernels.attention_streamed(args);
  kernels.attention_grad_streamed(args);
  return run;
}

TEST(KernelLevels, GiveTheSameBitsForAttention) {
  for (const auto& [seq, dim] : {std::pair<int64_t, int64_t>{1, 1}, {70, 5}, {66, 17}}) {
    const AttentionRun plain = RunAttention(KernelsFor(1), seq, dim);
    for (const KernelTable* table : OtherLevels()) {
      const AttentionRun other = RunAttention(*table, seq, dim);
      EXPECT_TRUE(SameBits(plain.out, other.out)) << seq << " " << dim;
      EXPECT_TRUE(SameBits(plain.statistics, other.statistics)) << seq << " " << dim;
      EXPECT_TRUE(SameBits(plain.d_qkv, other.d_qkv)) << seq << " " << dim;
    }
  }
}

}  // namespace
}  // namespace blazed::cpu
