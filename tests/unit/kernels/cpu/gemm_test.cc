#include "kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/blas.h"
#include "kernels/fuse/form.h"

namespace blazed::cpu {
namespace {

std::vector<float> Draw(std::mt19937_64* random, int64_t count) {
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& v : x) v = uniform(*random);
  return x;
}

TEST(Blas, IsLoadedWithKernelsOfItsOwnChoiceNamed) {
  ASSERT_TRUE(LoadBlas().ok()) << LoadBlas();
  EXPECT_NE(LoadedBlas().kernels, "");
}

// A panel's bits depend neither on where its rows lie nor on what runs between two panels.
TEST(Gemm, GivesAPanelTheSameBitsAnywhere) {
  ASSERT_TRUE(LoadBlas().ok());
  std::mt19937_64 random(31);
  for (const int64_t inner : {7, 96, 513}) {
    const int64_t rows = 3 * fuse::kGemmPanelRows + 5;
    const int64_t cols = 130;
    const std::vector<float> left = Draw(&random, rows * inner);
    const std::vector<float> right = Draw(&random, inner * cols);
    std::vector<float> whole(static_cast<size_t>(rows * cols));
    GemmProduct product = {graph::OpKind::kGemm,
                           GemmCall::kPanels,
                           left.data(),
                           right.data(),
                           whole.data(),
                           rows,
                           inner,
                           inner,
                           cols};
    EXPECT_EQ(RunGemm(product), 4);
    for (int64_t row = 0; row < rows; row += fuse::kGemmPanelRows) {
      const int64_t count = std::min(fuse::kGemmPanelRows, rows - row);
      std::vector<float> panel(static_cast<size_t>(count * cols + 1));
      RunPanel(product, row, count, panel.data() + 1);
      EXPECT_EQ(std::memcmp(panel.data() + 1, whole.data() + row * cols,
                            static_cast<size_t>(count * cols) * sizeof(float)),
                0);
    }
  }
}

// Control for everything that claims to be bit-equal: a split of the inner dimension is not.
TEST(Gemm, ReordersSumsWhenItSplitsTheInnerDimension) {
  ASSERT_TRUE(LoadBlas().ok());
  std::mt19937_64 random(32);
  const int64_t rows = 64, inner = 512, cols = 64;
  const std::vector<float> left = Draw(&random, rows * inner);
  const std::vector<float> right = Draw(&random, inner * cols);
  std::vector<float> out[2] = {std::vector<float>(static_cast<size_t>(rows * cols)),
                               std::vector<float>(static_cast<size_t>(rows * cols))};
  for (int split = 0; split < 2; ++split) {
    RunGemm({graph::OpKind::kGemm, split != 0 ? GemmCall::kSplitK : GemmCall::kPanels, left.data(),
             right.data(), out[split].data(), rows, inner, inner, cols});
  }
  EXPECT_NE(out[0], out[1]);
  for (size_t i = 0; i < out[0].size(); ++i) EXPECT_NEAR(out[0][i], out[1][i], 1e-4f);
}

TEST(Gemm, AddsWeightGradientsOverFixedSegments) {
  ASSERT_TRUE(LoadBlas().ok());
  std::mt19937_64 random(33);
  const int64_t rows = 2 * fuse::kGemmSegmentRows + 9, k = 5, n = 6;
  const std::vector<float> x = Draw(&random, rows * k);
  const std::vector<float> dy = Draw(&random, rows * n);
  std::vector<float> out(static_cast<size_t>(k * n), NAN);  // whatever was there is overwritten
  EXPECT_EQ(RunGemm({graph::OpKind::kGemmTN, GemmCall::kPanels, x.data(), dy.data(), out.data(),
                     rows, k, rows, n}),
            3);
  for (int64_t i = 0; i < k * n; ++i) {
    double sum = 0.0;
    for (int64_t r = 0; r < rows; ++r) {
      sum += static_cast<double>(x[static_cast<size_t>(r * k + i / n)]) *
             dy[static_cast<size_t>(r * n + i % n)];
    }
    EXPECT_NEAR(out[static_cast<size_t>(i)], sum, 1e-3);
  }
}

}  // namespace
}  // namespace blazed::cpu
