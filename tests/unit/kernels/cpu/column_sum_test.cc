#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/cpu/isa/table.h"

namespace blazed::cpu {
namespace {

// The definition, written plainly: chains of 64 rows, their totals added level by level in pairs,
// an odd one passed up.
float Defined(const std::vector<float>& x, int64_t rows, int64_t cols, int64_t c, float alpha) {
  std::vector<float> totals;
  for (int64_t begin = 0; begin < rows; begin += kColumnChunkRows) {
    float sum = 0.0f;
    for (int64_t r = begin; r < std::min(rows, begin + kColumnChunkRows); ++r) {
      sum += x[static_cast<size_t>(r * cols + c)];
    }
    totals.push_back(sum);
  }
  while (totals.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i < totals.size(); i += 2) {
      next.push_back(i + 1 < totals.size() ? totals[i] + totals[i + 1] : totals[i]);
    }
    totals = next;
  }
  return alpha * totals[0];
}

TEST(ColumnSum, DoesNotDependOnTheTiles) {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (int round = 0; round < 40; ++round) {
    const auto rows = static_cast<int64_t>(1 + random() % 700);
    const auto cols = static_cast<int64_t>(1 + random() % 40);
    std::vector<float> x(static_cast<size_t>(rows * cols));
    for (float& v : x) v = uniform(random);
    std::vector<float> state(static_cast<size_t>(ColumnSumStateFloats(rows, cols)));
    std::vector<float> out(static_cast<size_t>(cols));
    for (int64_t row = 0; row < rows;) {
      const auto step = std::min<int64_t>(rows - row, static_cast<int64_t>(1 + random() % 90));
      TileArgs args;
      args.in[0] = x.data() + row * cols;
      args.out = out.data();
      args.rows = step;
      args.row_begin = row;
      args.total_rows = rows;
      args.cols = cols;
      args.alpha = 0.5f;
      args.state = state.data();
      KernelsFor(0).tile[static_cast<size_t>(graph::OpKind::kColumnSum)](args);
      row += step;
    }
    for (int64_t c = 0; c < cols; ++c) {
      ASSERT_EQ(out[static_cast<size_t>(c)], Defined(x, rows, cols, c, 0.5f))
          << rows << "x" << cols << " column " << c << " round " << round;
    }
  }
}

}  // namespace
}  // namespace blazed::cpu
