#pragma once

#include "kernels/cpu/program.h"

namespace blazed::cpu {

// Places every computed tensor that reaches memory, and the weights of materialised attention, in
// one arena. Tensors that are never alive in the same block may share memory. Fills in
// Program::offset, arena_floats, scratch_floats and Block::weights_offset.
void PlaceTensors(const graph::Graph& graph, Program* program);

}  // namespace blazed::cpu
