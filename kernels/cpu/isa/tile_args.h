#pragma once

#include <cstdint>

namespace blazed::cpu {

// One call of an operation on rows [row_begin, row_begin + rows) of its walk. Row-aligned operands
// point at row `row_begin`, operands read whole (a row vector, a table, a scalar) at their start.
// Rows lie densely, one after another. No function is defined here: the struct is shared by all
// vector levels.
struct TileArgs {
  const float* in[5] = {};
  const int32_t* ids = nullptr;  // kGather, kScatterAdd, cross-entropy: row-aligned
  float* out = nullptr;
  int64_t rows = 0;
  int64_t row_begin = 0;
  int64_t total_rows = 0;  // of the whole walk
  int64_t cols = 0;        // of the wide operand
  int64_t table_rows = 0;  // kScatterAdd: rows of the output
  float alpha = 0.0f;
  float beta = 0.0f;
  int64_t period = 0;
  float* state = nullptr;   // kColumnSum: its chain and tree, ColumnSumStateFloats() long
  float* totals = nullptr;  // kColumnSum in parts: totals of all chains, `cols` each; no tree yet
};

using TileFn = void (*)(const TileArgs&);

// Causal attention over one [batch*seq, 3*heads*dim] tensor.
struct AttentionArgs {
  const float* qkv = nullptr;
  float* out = nullptr;         // forward: written; backward: read
  float* statistics = nullptr;  // [rows, 2*heads]: integer maximum, then sum, a head
  int64_t batch = 0;
  int64_t seq = 0;
  int64_t heads = 0;
  int64_t dim = 0;
  int64_t first = 0, last = 0;   // which of all sequences' heads, batch * heads in all
  float* weights = nullptr;      // materialised: [batch*heads, seq, PaddedLanes(seq)]; else null
  float* scratch = nullptr;      // AttentionScratchFloats() long
  const float* d_out = nullptr;  // backward
  float* d_qkv = nullptr;        // backward
};

using AttentionFn = void (*)(const AttentionArgs&);

// Constants of the numeric form: changing one changes bits.
inline constexpr int64_t kColumnChunkRows = 64;  // rows a chain of a column sum
inline constexpr int64_t kSegmentColumns = 64;   // columns a segment of a row sum
inline constexpr int64_t kKeyBlock = 64;         // keys a block of streamed attention
inline constexpr int64_t kQueryBlock = 64;       // a plan constant: any value gives the same bits

}  // namespace blazed::cpu
