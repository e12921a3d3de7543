#pragma once

#include "kernels/cpu/isa/tile_args.h"
#include "kernels/graph/op.h"

namespace blazed::cpu {

// The kernels of one vector level. Entries of operations that are no tile operation are null.
struct KernelTable {
  int level = 0;  // 1, 3 or 4
  TileFn tile[graph::kOpKindCount] = {};
  TileFn column_sum_of_totals = nullptr;  // the tree over the totals of all chains
  AttentionFn attention_materialised = nullptr;
  AttentionFn attention_streamed = nullptr;
  AttentionFn attention_grad_materialised = nullptr;
  AttentionFn attention_grad_streamed = nullptr;
};

// The tables compiled in; null where the build has no such level.
const KernelTable* KernelsV1();
const KernelTable* KernelsV3();
const KernelTable* KernelsV4();

// The widest level this processor runs, or `level` (1, 3, 4) if it is available; the next narrower
// otherwise. 0 means the widest. All levels give the same bits.
const KernelTable& KernelsFor(int level);

// Rounds up to whole vectors.
static constexpr int64_t PaddedLanes(int64_t n) { return (n + 15) / 16 * 16; }

// Floats of state of a column sum over `rows` x `cols`.
int64_t ColumnSumStateFloats(int64_t rows, int64_t cols);

// Floats of AttentionArgs::scratch and ::weights.
int64_t AttentionScratchFloats(int64_t seq, int64_t dim);
int64_t AttentionWeightsFloats(int64_t batch, int64_t heads, int64_t seq);

}  // namespace blazed::cpu
