// Causal attention with the running maximum kept as an integer in the log2 domain (docs/adr/0004):
// a rescale is then a multiplication by a power of two, which is exact while nothing turns
// subnormal, so the streamed and the materialised form give the same bits. A row whose scores
// spread so far that a weight could turn subnormal is walked again in the materialised order; what
// is left out are values and outputs below about 2^-26, which a spread of up to 2^100 could push
// under the smallest normal number.
#pragma once

#include "kernels/cpu/isa/det_math.h"
#include "kernels/cpu/isa/micro_gemm.h"
#include "kernels/cpu/isa/table.h"

namespace blazed::cpu::BLAZED_ISA {

// One head of one sequence, and the pieces of scratch both forms use.
struct Head {
  const float* q;
  const float* k;
  const float* v;
  int64_t stride;  // floats between rows of q, k, v
  int64_t seq, dim, padded_seq, padded_dim;
  float log2_scale;     // log2(e) / sqrt(dim)
  float* k_transposed;  // [dim, padded_seq]
  float* v_transposed;  // [dim, padded_seq]
  float* rest;          // what is left of the scratch
  float* statistics;    // row r: [r*statistics_stride] maximum, [.. + 1] sum
  int64_t statistics_stride;
};

inline Head MakeHead(const AttentionArgs& a, int64_t batch, int64_t head) {
  const int64_t width = a.heads * a.dim;
  Head h;
  h.stride = 3 * width;
  h.q = a.qkv + batch * a.seq * h.stride + head * a.dim;
  h.k = h.q + width;
  h.v = h.k + width;
  h.seq = a.seq;
  h.dim = a.dim;
  h.padded_seq = PaddedLanes(a.seq);
  h.padded_dim = PaddedLanes(a.dim);
  h.log2_scale = 0x1.715476p+0f / __builtin_sqrtf(static_cast<float>(a.dim));
  h.k_transposed = a.scratch;
  h.v_transposed = h.k_transposed + a.dim * h.padded_seq;
  h.rest = h.v_transposed + a.dim * h.padded_seq;
  h.statistics = a.statistics + batch * a.seq * 2 * a.heads + 2 * head;
  h.statistics_stride = 2 * a.heads;
  return h;
}

inline void Zero(float* p, int64_t floats) {
  __builtin_memset(p, 0, static_cast<size_t>(floats) * sizeof(float));
}

// to[d][t] = from[t][d]; columns beyond seq are zero.
inline void PackTransposed(const Head& h, const float* from, float* to) {
  for (int64_t d = 0; d < h.dim; ++d) {
    float* row = to + d * h.padded_seq;
    for (int64_t t = 0; t < h.seq; ++t) row[t] = from[t * h.stride + d];
    for (int64_t t = h.seq; t < h.padded_seq; ++t) row[t] = 0.0f;
  }
}

// out[m][n] = sum over d of left[m][d] * packed[d][first + n], for n up to whole vectors beyond
// `keys`.
inline void Products(const Head& h, const float* left, int64_t left_stride, const float* packed,
                     int64_t first, int64_t rows, int64_t keys, float* out, int64_t out_stride) {
  RunMicroGemm({.a = left,
                .a_row = left_stride,
                .a_k = 1,
                .b = packed + first,
                .b_row = h.padded_seq,
                .c = out,
                .c_row = out_stride,
                .m = rows,
                .n = PaddedLanes(keys),
                .k = h.dim,
                .carried = false});
}

inline V Ceil(V t) {
  const V r = Round(t);
  return Select(Less(r, t), r + Broadcast(1.0f), r);
}

// Extremes of one row's scaled scores over its unmasked keys.
struct RowRange {
  float ceiling = -0x1p24f;  // the integer maximum
  float low = 0x1p24f;
  float high = -0x1p24f;
};

// Scales `keys` scores of one row to the log2 domain in place and widens *range by the first
// `valid`.
inline void ScaleRow(float* s, int64_t keys, int64_t valid, float scale, RowRange* range) {
  V ceiling = Broadcast(range->ceiling);
  V low = Broadcast(range->low);
  V high = Broadcast(range->high);
  const V bound = Broadcast(0x1p20f);
  for (int64_t i = 0; i < keys; i += kLanes) {
    // Bounded so that rounding to integers stays exact; the operand order lets NaN through.
    V t = Load(s + i) * Broadcast(scale);
    t = Max(Broadcast(-0x1p20f), Min(bound, t));
    Store(s + i, t);
    const Mask unmasked = Less(Iota(), Broadcast(static_cast<float>(valid - i)));
    ceiling = Max(Select(unmasked, Ceil(t), ceiling), ceiling);
    low = Min(Select(unmasked, t, low), low);
    high = Max(Select(unmasked, t, high), high);
  }
  float lanes[3][kLanes];
  Store(lanes[0], ceiling);
  Store(lanes[1], low);
  Store(lanes[2], high);
  for (int i = 0; i < kLanes; ++i) {
    range->ceiling = lanes[0][i] > range->ceiling ? lanes[0][i] : range->ceiling;
    range->low = lanes[1][i] < range->low ? lanes[1][i] : range->low;
    range->high = lanes[2][i] > range->high ? lanes[2][i] : range->high;
  }
}

// Weights 2^(t - maximum) of one row in place, zero from `valid` on.
inline void WeighRow(float* t, int64_t keys, int64_t valid, float maximum) {
  for (int64_t i = 0; i < keys; i += kLanes) {
    V n;
    const V y = Exp2Parts(Load(t + i), &n);
    const V p = ScaleByPower(y, n - Broadcast(maximum));
    const Mask unmasked = Less(Iota(), Broadcast(static_cast<float>(valid - i)));
    Store(t + i, Select(unmasked, p, Broadcast(0.0f)));
  }
}

inline float SumRow(const float* p, int64_t keys) {
  return CanonicalSum(keys, [=](int64_t i, int64_t) { return Load(p + i); });
}

inline int64_t ValidKeys(int64_t query, int64_t first_key, int64_t keys) {
  const int64_t valid = query + 1 - first_key;
  return valid < 0 ? 0 : (valid > keys ? keys : valid);
}

inline void DivideRow(const float* sum, int64_t dim, float divisor, float* out) {
  for (int64_t d = 0; d < dim; d += kLanes) {
    const int64_t count = dim - d < kLanes ? dim - d : kLanes;
    StoreUpTo(out + d, count, Load(sum + d) / Broadcast(divisor));
  }
}

// The framework's plain form: the scores of all pairs, then the weights, then the product.
inline void ForwardMaterialised(const Head& h, float* weights, float* out, int64_t out_stride) {
  Products(h, h.q, h.stride, h.k_transposed, 0, h.seq, h.seq, weights, h.padded_seq);
  for (int64_t r = 0; r < h.seq; ++r) {
    float* row = weights + r * h.padded_seq;
    RowRange range;
    ScaleRow(row, h.padded_seq, r + 1, h.log2_scale, &range);
    WeighRow(row, h.padded_seq, r + 1, range.ceiling);
    h.statistics[r * h.statistics_stride] = range.ceiling;
    h.statistics[r * h.statistics_stride + 1] = SumRow(row, h.padded_seq);
  }
  float* sums = h.rest;
  RunMicroGemm(
      {weights, h.padded_seq, 1, h.v, h.stride, sums, h.padded_dim, h.seq, h.dim, h.seq, false});
  for (int64_t r = 0; r < h.seq; ++r) {
    DivideRow(sums + r * h.padded_dim, h.dim, h.statistics[r * h.statistics_stride + 1],
              out + r * out_stride);
  }
}

// A block of query rows walking over key blocks.
struct QueryBlock {
  int64_t first, rows;
  float* scores;   // [rows, kKeyBlock]
  float* sums;     // [rows, padded_dim]
  float* maximum;  // by row
  float* total;    // by row
  RowRange range[kQueryBlock];
};

inline void RescaleRow(const Head& h, QueryBlock* b, int64_t row, float maximum) {
  const V power = Broadcast(b->maximum[row] - maximum);
  float* sums = b->sums + row * h.padded_dim;
  for (int64_t d = 0; d < h.padded_dim; d += kLanes) {
    Store(sums + d, ScaleByPower(Load(sums + d), power));
  }
  b->total[row] = First(ScaleByPower(Broadcast(b->total[row]), power));
}

enum class Maximum : uint8_t { kRunning, kGiven };

inline void WalkKeys(const Head& h, Maximum mode, QueryBlock* b) {
  Zero(b->total, b->rows);
  const int64_t limit = b->first + b->rows;
  for (int64_t k0 = 0; k0 < limit; k0 += kKeyBlock) {
    const int64_t keys = (limit < k0 + kKeyBlock ? limit : k0 + kKeyBlock) - k0;
    const int64_t wide = PaddedLanes(keys);
    Products(h, h.q + b->first * h.stride, h.stride, h.k_transposed, k0, b->rows, keys, b->scores,
             kKeyBlock);
    for (int64_t r = 0; r < b->rows; ++r) {
      float* row = b->scores + r * kKeyBlock;
      const int64_t valid = ValidKeys(b->first + r, k0, keys);
      const float before = b->range[r].ceiling;
      ScaleRow(row, wide, valid, h.log2_scale, &b->range[r]);
      if (mode == Maximum::kRunning && b->range[r].ceiling > before) {
        if (k0 > 0) RescaleRow(h, b, r, b->range[r].ceiling);
        b->maximum[r] = b->range[r].ceiling;
      }
      WeighRow(row, wide, valid, b->maximum[r]);
      b->total[r] = b->total[r] + SumRow(row, wide);
    }
    RunMicroGemm({b->scores, kKeyBlock, 1, h.v + k0 * h.stride, h.stride, b->sums, h.padded_dim,
                  b->rows, h.dim, keys, k0 > 0});
  }
}

// Past this spread of log2 scores a weight may turn subnormal and a rescale round; such blocks are
// walked once more with the final maximum, which is the order of the materialised form.
inline constexpr float kExactSpread = 100.0f;

inline void ForwardStreamed(const Head& h, float* out, int64_t out_stride) {
  QueryBlock b;
  b.scores = h.rest;
  b.sums = b.scores + kQueryBlock * kKeyBlock;
  b.maximum = b.sums + kQueryBlock * h.padded_dim;
  b.total = b.maximum + kQueryBlock;
  for (b.first = 0; b.first < h.seq; b.first += kQueryBlock) {
    b.rows = h.seq - b.first < kQueryBlock ? h.seq - b.first : kQueryBlock;
    for (RowRange& range : b.range) range = RowRange();
    WalkKeys(h, Maximum::kRunning, &b);
    bool exact = true;
    for (int64_t r = 0; r < b.rows; ++r) {
      exact = exact && b.range[r].high - b.range[r].low <= kExactSpread;
    }
    if (!exact) WalkKeys(h, Maximum::kGiven, &b);
    for (int64_t r = 0; r < b.rows; ++r) {
      const int64_t row = b.first + r;
      h.statistics[row * h.statistics_stride] = b.maximum[r];
      h.statistics[row * h.statistics_stride + 1] = b.total[r];
      DivideRow(b.sums + r * h.padded_dim, h.dim, b.total[r], out + row * out_stride);
    }
  }
}

inline void AttentionMaterialised(const AttentionArgs& a) {
  const int64_t width = a.heads * a.dim;
  for (int64_t n = a.first; n < a.last; ++n) {
    const Head h = MakeHead(a, n / a.heads, n % a.heads);
    PackTransposed(h, h.k, h.k_transposed);
    ForwardMaterialised(h, a.weights + n * a.seq * h.padded_seq,
                        a.out + (n / a.heads) * a.seq * width + (n % a.heads) * a.dim, width);
  }
}

inline void AttentionStreamed(const AttentionArgs& a) {
  const int64_t width = a.heads * a.dim;
  for (int64_t n = a.first; n < a.last; ++n) {
    const Head h = MakeHead(a, n / a.heads, n % a.heads);
    PackTransposed(h, h.k, h.k_transposed);
    ForwardStreamed(h, a.out + (n / a.heads) * a.seq * width + (n % a.heads) * a.dim, width);
  }
}

}  // namespace blazed::cpu::BLAZED_ISA
