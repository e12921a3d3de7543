#pragma once

#include <cstdint>
#include <string>

#include "kernels/graph/op.h"

namespace blazed::cpu {

// How the library is called for one product.
enum class GemmCall : uint8_t {
  kPanels,  // fixed panels of rows; for kGemmTN fixed segments, ascending
  kWhole,   // one call; another order of sums
  kSplitK,  // panels, the inner dimension in two parts; another order of sums
};

const char* GemmCallName(GemmCall call);

// One product as graph::OpKind kGemm, kGemmNT or kGemmTN defines it, row-major and dense.
struct GemmProduct {
  graph::OpKind op = graph::OpKind::kGemm;
  GemmCall call = GemmCall::kPanels;
  const float* left = nullptr;
  const float* right = nullptr;
  float* out = nullptr;
  int64_t rows = 0;  // of the left operand
  int64_t left_cols = 0;
  int64_t right_rows = 0;
  int64_t right_cols = 0;
};

// Rows [begin, begin + rows) of a kGemm or kGemmNT into `out` (which points at row `begin`).
// Returns the number of library calls made.
int RunPanel(const GemmProduct& product, int64_t begin, int64_t rows, float* out);

// Rows [begin, end) of a kGemm or kGemmNT in panels; `begin` is where a panel begins. Returns the
// number of library calls made.
int RunRowsOfGemm(const GemmProduct& product, int64_t begin, int64_t end);

// The whole product. Returns the number of library calls made.
int RunGemm(const GemmProduct& product);

// The library with the kernels it chose: part of what was run.
std::string GemmLibrary();

}  // namespace blazed::cpu
