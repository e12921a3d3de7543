// Backward of causal attention: with D = rowsum(dO*O) and P = p/l,
//   dV = P^T dO,  dS = P * (dO V^T - D),  dQ = scale * dS K,  dK = scale * dS^T Q.
// Every sum over keys or queries is one ascending chain carried in memory, so walking blocks and
// walking the whole matrix give the same bits (masked pairs add exact zeros).
#pragma once

#include "kernels/cpu/isa/attention.h"

namespace blazed::cpu::BLAZED_ISA {

struct HeadGrad {
  const float* out;  // O and dO share the stride
  const float* d_out;
  int64_t out_stride;
  float* dq;  // dq, dk, dv share h.stride
  float* dk;
  float* dv;
};

inline HeadGrad MakeHeadGrad(const AttentionArgs& a, const Head& h, int64_t batch, int64_t head) {
  const int64_t width = a.heads * a.dim;
  const int64_t place = batch * a.seq * width + head * a.dim;
  HeadGrad g;
  g.out = a.out + place;
  g.d_out = a.d_out + place;
  g.out_stride = width;
  g.dq = a.d_qkv + (h.q - a.qkv);
  g.dk = g.dq + width;
  g.dv = g.dk + width;
  return g;
}

inline void ZeroGrads(const Head& h, const HeadGrad& g) {
  for (int64_t r = 0; r < h.seq; ++r) {
    Zero(g.dq + r * h.stride, h.dim);
    Zero(g.dk + r * h.stride, h.dim);
    Zero(g.dv + r * h.stride, h.dim);
  }
}

inline void ScaleGrads(const Head& h, const HeadGrad& g) {
  const float scale = 1.0f / __builtin_sqrtf(static_cast<float>(h.dim));
  for (int64_t r = 0; r < h.seq; ++r) {
    for (int64_t d = 0; d < h.dim; ++d) {
      g.dq[r * h.stride + d] = scale * g.dq[r * h.stride + d];
      g.dk[r * h.stride + d] = scale * g.dk[r * h.stride + d];
    }
  }
}

// Row sums of dO*O.
inline void OutputProducts(const Head& h, const HeadGrad& g, float* products) {
  for (int64_t r = 0; r < h.seq; ++r) {
    const float* x = g.out + r * g.out_stride;
    const float* y = g.d_out + r * g.out_stride;
    products[r] = CanonicalSum(h.dim, [=](int64_t i, int64_t count) {
      return LoadUpTo(x + i, count) * LoadUpTo(y + i, count);
    });
  }
}

// weights: p -> p/l;  slopes: dP -> P*(dP - product). Both in place.
inline void SlopeRow(int64_t keys, float sum, float product, float* weights, float* slopes) {
  for (int64_t i = 0; i < keys; i += kLanes) {
    const V p = Load(weights + i) / Broadcast(sum);
    Store(weights + i, p);
    Store(slopes + i, p * (Load(slopes + i) - Broadcast(product)));
  }
}

// A rectangle of pairs: queries [q0, q0+rows), keys [k0, k0+keys).
struct Rectangle {
  int64_t q0, rows, k0, keys;
  const float* weights;
  const float* slopes;
  int64_t stride;
};

// Carries the three gradient chains on over the rectangle.
inline void ChainGrads(const Head& h, const HeadGrad& g, const Rectangle& t) {
  RunMicroGemm({t.slopes, t.stride, 1, h.k + t.k0 * h.stride, h.stride, g.dq + t.q0 * h.stride,
                h.stride, t.rows, h.dim, t.keys, true});
  RunMicroGemm({t.slopes, 1, t.stride, h.q + t.q0 * h.stride, h.stride, g.dk + t.k0 * h.stride,
                h.stride, t.keys, h.dim, t.rows, true});
  RunMicroGemm({t.weights, 1, t.stride, g.d_out + t.q0 * g.out_stride, g.out_stride,
                g.dv + t.k0 * h.stride, h.stride, t.keys, h.dim, t.rows, true});
}

inline void BackwardMaterialised(const Head& h, const HeadGrad& g, float* weights) {
  float* products = h.rest;
  float* slopes = products + PaddedLanes(h.seq);
  OutputProducts(h, g, products);
  Products(h, g.d_out, g.out_stride, h.v_transposed, 0, h.seq, h.seq, slopes, h.padded_seq);
  for (int64_t r = 0; r < h.seq; ++r) {
    SlopeRow(h.padded_seq, h.statistics[r * h.statistics_stride + 1], products[r],
             weights + r * h.padded_seq, slopes + r * h.padded_seq);
  }
  ChainGrads(h, g, {0, h.seq, 0, h.seq, weights, slopes, h.padded_seq});
}

inline void BackwardBlock(const Head& h, const HeadGrad& g, const float* products, Rectangle t,
                          float* weights, float* slopes) {
  const int64_t wide = PaddedLanes(t.keys);
  Products(h, h.q + t.q0 * h.stride, h.stride, h.k_transposed, t.k0, t.rows, t.keys, weights,
           t.stride);
  Products(h, g.d_out + t.q0 * g.out_stride, g.out_stride, h.v_transposed, t.k0, t.rows, t.keys,
           slopes, t.stride);
  for (int64_t r = 0; r < t.rows; ++r) {
    const float* statistics = h.statistics + (t.q0 + r) * h.statistics_stride;
    const int64_t valid = ValidKeys(t.q0 + r, t.k0, t.keys);
    float* row = weights + r * t.stride;
    RowRange unused;
    ScaleRow(row, wide, valid, h.log2_scale, &unused);
    WeighRow(row, wide, valid, statistics[0]);
    SlopeRow(wide, statistics[1], products[t.q0 + r], row, slopes + r * t.stride);
  }
  t.weights = weights;
  t.slopes = slopes;
  ChainGrads(h, g, t);
}

inline void BackwardStreamed(const Head& h, const HeadGrad& g) {
  float* products = h.rest;
  float* weights = products + PaddedLanes(h.seq);
  float* slopes = weights + kQueryBlock * kKeyBlock;
  OutputProducts(h, g, products);
  for (int64_t q0 = 0; q0 < h.seq; q0 += kQueryBlock) {
    const int64_t rows = h.seq - q0 < kQueryBlock ? h.seq - q0 : kQueryBlock;
    for (int64_t k0 = 0; k0 < q0 + rows; k0 += kKeyBlock) {
      const int64_t left = q0 + rows - k0;
      const int64_t keys = left < kKeyBlock ? left : kKeyBlock;
      BackwardBlock(h, g, products, {q0, rows, k0, keys, nullptr, nullptr, kKeyBlock}, weights,
                    slopes);
    }
  }
}

inline void AttentionGradMaterialised(const AttentionArgs& a) {
  for (int64_t n = a.first; n < a.last; ++n) {
    const Head h = MakeHead(a, n / a.heads, n % a.heads);
    const HeadGrad g = MakeHeadGrad(a, h, n / a.heads, n % a.heads);
    PackTransposed(h, h.v, h.v_transposed);
    ZeroGrads(h, g);
    BackwardMaterialised(h, g, a.weights + n * a.seq * h.padded_seq);
    ScaleGrads(h, g);
  }
}

inline void AttentionGradStreamed(const AttentionArgs& a) {
  for (int64_t n = a.first; n < a.last; ++n) {
    const Head h = MakeHead(a, n / a.heads, n % a.heads);
    const HeadGrad g = MakeHeadGrad(a, h, n / a.heads, n % a.heads);
    PackTransposed(h, h.k, h.k_transposed);
    PackTransposed(h, h.v, h.v_transposed);
    ZeroGrads(h, g);
    BackwardStreamed(h, g);
    ScaleGrads(h, g);
  }
}

}  // namespace blazed::cpu::BLAZED_ISA
