#pragma once

#include <vector>

#include "kernels/cpu/program.h"
#include "kernels/cpu/variant.h"

namespace blazed::cpu {

// True when `id`, made by a node of `nodes`, is read by no other node and by nobody outside the
// program: it never needs to reach memory.
bool IsLocal(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes, graph::ValueId id);

// Scratch floats one row of a merged block of `nodes` needs, slots reused as tensors die.
int64_t SlotFloatsPerRow(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes);

// Fills in a kRows block: operations, operands, slots, state and tile size.
void LayOutTiles(const graph::Graph& graph, const BuildOptions& options, const KernelTable& kernels,
                 Block* block);

}  // namespace blazed::cpu
