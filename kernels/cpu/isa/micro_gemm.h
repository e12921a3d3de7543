// Small matrix products with one fused multiply-add chain an output element, k ascending, carried
// on from what C holds. The order depends on nothing else, so any blocking of rows, columns or k (k
// blocks ascending) gives the same bits.
#pragma once

#include "kernels/cpu/isa/sums.h"

namespace blazed::cpu::BLAZED_ISA {

struct MicroGemm {
  const float* a;  // A[m][k] = a[m*a_row + k*a_k]
  int64_t a_row, a_k;
  const float* b;  // B[k][n] = b[k*b_row + n]
  int64_t b_row;
  float* c;  // C[m][n] = c[m*c_row + n]
  int64_t c_row;
  int64_t m, n, k;
  bool carried;  // chains start from C, else from +0 and C is only written
};

// Rows [m0, m0+kRows) and up to 16 columns from n0.
template <int kRows>
inline void MicroTile(const MicroGemm& g, int64_t m0, int64_t n0, int64_t count) {
  V acc[kRows];
  for (int i = 0; i < kRows; ++i) {
    acc[i] = g.carried ? LoadUpTo(g.c + (m0 + i) * g.c_row + n0, count) : Broadcast(0.0f);
  }
  const float* a = g.a + m0 * g.a_row;
  const float* b = g.b + n0;
  if (count == kLanes) {
    for (int64_t k = 0; k < g.k; ++k) {
      const V row = Load(b + k * g.b_row);
      for (int i = 0; i < kRows; ++i)
        acc[i] = Fma(Broadcast(a[i * g.a_row + k * g.a_k]), row, acc[i]);
    }
  } else {
    for (int64_t k = 0; k < g.k; ++k) {
      const V row = LoadPart(b + k * g.b_row, count);
      for (int i = 0; i < kRows; ++i)
        acc[i] = Fma(Broadcast(a[i * g.a_row + k * g.a_k]), row, acc[i]);
    }
  }
  for (int i = 0; i < kRows; ++i) StoreUpTo(g.c + (m0 + i) * g.c_row + n0, count, acc[i]);
}

// Rows [m0, m0+kRows) and 32 columns from n0.
template <int kRows>
inline void MicroTileWide(const MicroGemm& g, int64_t m0, int64_t n0) {
  V left[kRows], right[kRows];
  for (int i = 0; i < kRows; ++i) {
    const float* c = g.c + (m0 + i) * g.c_row + n0;
    left[i] = g.carried ? Load(c) : Broadcast(0.0f);
    right[i] = g.carried ? Load(c + kLanes) : Broadcast(0.0f);
  }
  const float* a = g.a + m0 * g.a_row;
  const float* b = g.b + n0;
  for (int64_t k = 0; k < g.k; ++k) {
    const V row_left = Load(b + k * g.b_row);
    const V row_right = Load(b + k * g.b_row + kLanes);
    for (int i = 0; i < kRows; ++i) {
      const V factor = Broadcast(a[i * g.a_row + k * g.a_k]);
      left[i] = Fma(factor, row_left, left[i]);
      right[i] = Fma(factor, row_right, right[i]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    Store(g.c + (m0 + i) * g.c_row + n0, left[i]);
    Store(g.c + (m0 + i) * g.c_row + n0 + kLanes, right[i]);
  }
}

#if defined(__AVX512F__)
inline constexpr int kMicroRows = 8;
#else
inline constexpr int kMicroRows = 4;
#endif

inline void RunMicroGemm(const MicroGemm& g) {
  int64_t n = 0;
#if defined(__AVX512F__)
  for (; n + 2 * kLanes <= g.n; n += 2 * kLanes) {
    int64_t m = 0;
    for (; m + kMicroRows <= g.m; m += kMicroRows) MicroTileWide<kMicroRows>(g, m, n);
    for (; m < g.m; ++m) MicroTileWide<1>(g, m, n);
  }
#endif
  for (; n < g.n; n += kLanes) {
    const int64_t count = g.n - n < kLanes ? g.n - n : kLanes;
    int64_t m = 0;
    for (; m + kMicroRows <= g.m; m += kMicroRows) MicroTile<kMicroRows>(g, m, n, count);
    for (; m < g.m; ++m) MicroTile<1>(g, m, n, count);
  }
}

}  // namespace blazed::cpu::BLAZED_ISA
