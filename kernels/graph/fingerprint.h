#pragma once

#include <string>

#include "kernels/graph/graph.h"
#include "kernels/graph/hash128.h"

namespace blazed::graph {

// The graph as canonical text: regime, then every value and node by number, with shapes, dtypes,
// attributes (floats as hexadecimal) and wiring. Names and initial values are left out: they change
// neither what is computed nor how long it takes.
std::string CanonicalPrint(const Graph& graph);

// The graph's fingerprint: HashText(CanonicalPrint(graph)).
Hash128 Fingerprint(const Graph& graph);

}  // namespace blazed::graph
