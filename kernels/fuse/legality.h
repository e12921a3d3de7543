#pragma once

#include <string>
#include <vector>

#include "kernels/graph/graph.h"

namespace blazed::fuse {

// Whether running `node` tile by tile with `block` (the consecutive nodes before it) would compute
// something else. Empty when it would not, or the reason. What is safe in a block is safe in any
// end piece of it, so cutting a safe block anywhere leaves safe blocks.
std::string WhyUnsafe(const graph::Graph& graph, const std::vector<graph::NodeId>& block,
                      graph::NodeId node);

// Whether `node` may merge with `block`: safe, and with a tensor in common, without which merging
// saves nothing. Empty, or the reason it may not.
std::string WhyNotJoin(const graph::Graph& graph, const std::vector<graph::NodeId>& block,
                       graph::NodeId node);

// Whether the row-wise `node` may run as (the first part of) the epilogue of the GEMM right before
// it, panel by panel. Empty, or the reason it may not.
std::string WhyNoEpilogue(const graph::Graph& graph, graph::NodeId gemm, graph::NodeId node);

// Whether `node`, later in such an epilogue, would need more of the product than a panel. Empty, or
// why.
std::string WhyUnsafeInside(const graph::Graph& graph, graph::NodeId gemm, graph::NodeId node);

// True when `node` reads input `index` row by row along its walk; false when it needs the whole
// tensor.
bool ReadsByRow(const graph::Node& node, size_t index);

// True when `node` writes its output row by row along its walk.
bool WritesByRow(const graph::Node& node);

}  // namespace blazed::fuse
