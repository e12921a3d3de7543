#include "kernels/cpu/gemm.h"

#include <algorithm>

#include "kernels/cpu/blas.h"
#include "kernels/fuse/form.h"

namespace blazed::cpu {
namespace {

// Inner positions [begin, begin + count) of a panel, added to `out` when `accumulate` is one.
void CallPanel(const GemmProduct& p, int64_t row, int64_t rows, int64_t begin, int64_t count,
               float accumulate, float* out) {
  const bool transposed = p.op == graph::OpKind::kGemmNT;
  const int64_t n = transposed ? p.right_rows : p.right_cols;
  const float* right = p.right + (transposed ? begin : begin * p.right_cols);
  LoadedBlas().sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans,
                     static_cast<int>(rows), static_cast<int>(n), static_cast<int>(count), 1.0f,
                     p.left + row * p.left_cols + begin, static_cast<int>(p.left_cols), right,
                     static_cast<int>(p.right_cols), accumulate, out, static_cast<int>(n));
}

void CallSegment(const GemmProduct& p, int64_t row, int64_t rows) {
  LoadedBlas().sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(p.left_cols),
                     static_cast<int>(p.right_cols), static_cast<int>(rows), 1.0f,
                     p.left + row * p.left_cols, static_cast<int>(p.left_cols),
                     p.right + row * p.right_cols, static_cast<int>(p.right_cols),
                     row == 0 ? 0.0f : 1.0f, p.out, static_cast<int>(p.right_cols));
}

int RunSegments(const GemmProduct& p) {
  const int64_t step = p.call == GemmCall::kWhole ? p.rows : fuse::kGemmSegmentRows;
  int calls = 0;
  for (int64_t row = 0; row < p.rows; row += step, ++calls) {
    CallSegment(p, row, std::min(step, p.rows - row));
  }
  return calls;
}

}  // namespace

const char* GemmCallName(GemmCall call) {
  static constexpr const char* kNames[] = {"panels", "whole", "split_k"};
  return kNames[static_cast<size_t>(call)];
}

int RunPanel(const GemmProduct& p, int64_t begin, int64_t rows, float* out) {
  const int64_t inner = p.left_cols;
  if (p.call != GemmCall::kSplitK) {
    CallPanel(p, begin, rows, 0, inner, 0.0f, out);
    return 1;
  }
  // At a third: the library halves long inner dimensions itself, so a half would often change
  // nothing.
  const int64_t first = inner / 3;
  CallPanel(p, begin, rows, 0, first, 0.0f, out);
  CallPanel(p, begin, rows, first, inner - first, 1.0f, out);
  return 2;
}

int RunRowsOfGemm(const GemmProduct& p, int64_t begin, int64_t end) {
  const int64_t cols = p.op == graph::OpKind::kGemmNT ? p.right_rows : p.right_cols;
  const int64_t step = p.call == GemmCall::kWhole ? p.rows : fuse::kGemmPanelRows;
  int calls = 0;
  for (int64_t row = begin; row < end; row += step) {
    calls += RunPanel(p, row, std::min(step, end - row), p.out + row * cols);
  }
  return calls;
}

int RunGemm(const GemmProduct& p) {
  return p.op == graph::OpKind::kGemmTN ? RunSegments(p) : RunRowsOfGemm(p, 0, p.rows);
}

std::string GemmLibrary() { return "openblas " + LoadedBlas().kernels; }

}  // namespace blazed::cpu
