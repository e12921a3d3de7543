#pragma once

#include "kernels/cpu/program.h"
#include "kernels/cpu/variant.h"
#include "kernels/fuse/decision.h"

namespace blazed::cpu {

// Lowers `graph` under `plan`, which must fit `space`: forms blocks, splits those that would be
// unsafe or need too much scratch, places every tensor and sizes the tiles. Pure.
Program Lower(const graph::Graph& graph, const fuse::DecisionSpace& space, const fuse::Plan& plan,
              const BuildOptions& options, const KernelTable& kernels);

}  // namespace blazed::cpu
