// Row and column reductions, embedding and loss.
#pragma once

#include "kernels/cpu/isa/det_math.h"
#include "kernels/cpu/isa/sums.h"
#include "kernels/cpu/isa/tile_args.h"

namespace blazed::cpu::BLAZED_ISA {

inline void RowSum(const TileArgs& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.in[0] + r * a.cols;
    const float sum =
        CanonicalSum(a.cols, [=](int64_t i, int64_t count) { return LoadUpTo(x + i, count); });
    a.out[r] = a.alpha * sum;
  }
}

// Any order gives the same maximum; -0 is raised to +0 so that this holds for zeros too.
inline void RowMax(const TileArgs& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.in[0] + r * a.cols;
    V top = Broadcast(x[0]);
    int64_t c = 0;
    for (; c + kLanes <= a.cols; c += kLanes) top = Max(Load(x + c), top);
    float lanes[kLanes];
    Store(lanes, top);
    float best = lanes[0];
    for (int i = 1; i < kLanes; ++i) best = lanes[i] > best ? lanes[i] : best;
    for (; c < a.cols; ++c) best = x[c] > best ? x[c] : best;
    a.out[r] = best + 0.0f;
  }
}

// Column sums: chains of 64 rows ascending, their totals added by a balanced binary tree on the
// chunk's index. state[0, cols) is the chain; level l of the tree lies at state[(1 + l) * cols).
inline void PushChunk(const TileArgs& a, int64_t chunk) {
  float* carry = a.state;
  int64_t level = 0;
  for (; (chunk >> level) & 1; ++level) {
    const float* left = a.state + (1 + level) * a.cols;
    for (int64_t c = 0; c < a.cols; c += kLanes) {
      const int64_t count = a.cols - c < kLanes ? a.cols - c : kLanes;
      StoreUpTo(carry + c, count, LoadUpTo(left + c, count) + LoadUpTo(carry + c, count));
    }
  }
  __builtin_memcpy(a.state + (1 + level) * a.cols, carry,
                   static_cast<size_t>(a.cols) * sizeof(float));
}

inline void FinishTree(const TileArgs& a, int64_t chunks) {
  float* total = a.state;
  bool any = false;
  for (int64_t level = 0; (chunks >> level) != 0; ++level) {
    if (((chunks >> level) & 1) == 0) continue;
    const float* left = a.state + (1 + level) * a.cols;
    for (int64_t c = 0; c < a.cols; ++c) total[c] = any ? left[c] + total[c] : left[c];
    any = true;
  }
  for (int64_t c = 0; c < a.cols; ++c) a.out[c] = a.alpha * total[c];
}

// Adds rows [first, first + rows) of the tile, all of one chunk, to the chain.
inline void ChainRows(const TileArgs& a, int64_t first, int64_t rows, bool start) {
  for (int64_t c = 0; c < a.cols; c += kLanes) {
    const int64_t count = a.cols - c < kLanes ? a.cols - c : kLanes;
    V sum = start ? Broadcast(0.0f) : LoadUpTo(a.state + c, count);
    const float* x = a.in[0] + first * a.cols + c;
    for (int64_t r = 0; r < rows; ++r) sum = sum + LoadUpTo(x + r * a.cols, count);
    StoreUpTo(a.state + c, count, sum);
  }
}

inline int64_t ChunksOf(const TileArgs& a) {
  return (a.total_rows + kColumnChunkRows - 1) / kColumnChunkRows;
}

inline void EndChunk(const TileArgs& a, int64_t chunk) {
  if (a.totals == nullptr) return PushChunk(a, chunk);
  __builtin_memcpy(a.totals + chunk * a.cols, a.state, static_cast<size_t>(a.cols) * sizeof(float));
}

inline void ColumnSum(const TileArgs& a) {
  int64_t done = 0;
  while (done < a.rows) {
    const int64_t row = a.row_begin + done;
    const int64_t in_chunk = row % kColumnChunkRows;
    int64_t rows = kColumnChunkRows - in_chunk;
    if (rows > a.rows - done) rows = a.rows - done;
    ChainRows(a, done, rows, in_chunk == 0);
    done += rows;
    const int64_t end = row + rows;
    if (end % kColumnChunkRows == 0 || end == a.total_rows) EndChunk(a, row / kColumnChunkRows);
    if (a.totals == nullptr && end == a.total_rows) FinishTree(a, ChunksOf(a));
  }
}

// Where parts of the rows were summed apart, each chain's total has been kept.
inline void ColumnSumOfTotals(const TileArgs& a) {
  for (int64_t chunk = 0; chunk < ChunksOf(a); ++chunk) {
    __builtin_memcpy(a.state, a.totals + chunk * a.cols,
                     static_cast<size_t>(a.cols) * sizeof(float));
    PushChunk(a, chunk);
  }
  FinishTree(a, ChunksOf(a));
}

inline void AddInto(float* out, const float* x, int64_t n) {
  for (int64_t c = 0; c < n; c += kLanes) {
    const int64_t count = n - c < kLanes ? n - c : kLanes;
    StoreUpTo(out + c, count, LoadUpTo(out + c, count) + LoadUpTo(x + c, count));
  }
}

inline void TiledSum(const TileArgs& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const int64_t row = a.row_begin + r;
    float* out = a.out + (row % a.period) * a.cols;
    if (row < a.period) __builtin_memset(out, 0, static_cast<size_t>(a.cols) * sizeof(float));
    AddInto(out, a.in[0] + r * a.cols, a.cols);
  }
}

inline void ScatterAdd(const TileArgs& a) {
  if (a.row_begin == 0) {
    __builtin_memset(a.out, 0, static_cast<size_t>(a.table_rows * a.cols) * sizeof(float));
  }
  for (int64_t r = 0; r < a.rows; ++r) {
    AddInto(a.out + a.ids[r] * a.cols, a.in[1] + r * a.cols, a.cols);
  }
}

inline void Gather(const TileArgs& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    __builtin_memcpy(a.out + r * a.cols, a.in[0] + a.ids[r] * a.cols,
                     static_cast<size_t>(a.cols) * sizeof(float));
  }
}

// log(sum) - (logit of the target - row maximum).
inline void CrossEntropy(const TileArgs& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const float log_sum = First(DetLog(Broadcast(a.in[3][r])));
    a.out[r] = log_sum - (a.in[0][r * a.cols + a.ids[r]] - a.in[1][r]);
  }
}

// (exp/sum - [column is the target]) * dloss.
inline void CrossEntropyGrad(const TileArgs& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.in[0] + r * a.cols;
    float* out = a.out + r * a.cols;
    const V sum = Broadcast(a.in[1][r]);
    const V slope = Broadcast(a.in[3][r]);
    const float target = (x[a.ids[r]] / a.in[1][r] - 1.0f) * a.in[3][r];
    for (int64_t c = 0; c < a.cols; c += kLanes) {
      const int64_t count = a.cols - c < kLanes ? a.cols - c : kLanes;
      StoreUpTo(out + c, count, (LoadUpTo(x + c, count) / sum) * slope);
    }
    out[a.ids[r]] = target;
  }
}

}  // namespace blazed::cpu::BLAZED_ISA
