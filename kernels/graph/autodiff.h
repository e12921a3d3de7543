#pragma once

#include <map>

#include "kernels/graph/builder.h"

namespace blazed::graph {

// Gradient of the loss by parameter.
using Gradients = std::map<ValueId, ValueId>;

// Appends the backward pass of `loss` to `builder` (phase backward) and returns the gradient of
// every parameter that the loss depends on; each is exposed as Role::kGradient under the
// parameter's name. Reverse-mode, one rule an operation, nodes in reverse program order. The shift
// of a softmax (kRowMax) carries no gradient: it cancels.
Gradients AppendBackward(GraphBuilder* builder, ValueId loss);

}  // namespace blazed::graph
