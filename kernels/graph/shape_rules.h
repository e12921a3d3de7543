#pragma once

#include <string>
#include <vector>

#include "kernels/graph/graph.h"

namespace blazed::graph {

// Output shape of an operation over `in`, in *out. Returns an empty string, or why the shapes do
// not fit.
std::string InferShape(OpKind op, const std::vector<Shape>& in, const Attributes& attributes,
                       Shape wanted, Shape* out);

}  // namespace blazed::graph
