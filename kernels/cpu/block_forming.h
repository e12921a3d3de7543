#pragma once

#include <vector>

#include "kernels/cpu/program.h"
#include "kernels/cpu/variant.h"
#include "kernels/fuse/decision.h"

namespace blazed::cpu {

// The blocks of `graph` under `plan`, nodes, kinds and choices filled in. Neighbours that the plan
// merges share a block unless that would be unsafe or exceed the scratch cap.
std::vector<Block> FormBlocks(const graph::Graph& graph, const fuse::DecisionSpace& space,
                              const fuse::Plan& plan, const BuildOptions& options);

}  // namespace blazed::cpu
