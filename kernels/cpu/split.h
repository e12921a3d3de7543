#pragma once

#include "kernels/cpu/program.h"
#include "kernels/cpu/variant.h"

namespace blazed::cpu {

// Rows that a part of a block begins at a multiple of: no panel of a product and no chain of a
// column sum is cut.
inline constexpr int64_t kPartRows = 64;

// What a block is divided into: slabs of kPartRows rows, or the heads of all sequences.
int64_t SlabsOf(const graph::Graph& graph, const Block& block);

// Divides the block between up to `threads` threads where its rows do not hang together and each
// part is worth waking a thread for: fills in Block::parts. Column sums of a divided block get
// their place for the totals of chains. After tiles were laid out.
void SplitBlock(const graph::Graph& graph, const BuildOptions& options, int threads, Block* block);

}  // namespace blazed::cpu
