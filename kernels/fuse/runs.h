#pragma once

#include <string>
#include <vector>

#include "kernels/graph/graph.h"

namespace blazed::fuse {

// A maximal series of neighbours in program order each of which may merge with the one before.
// Equal runs (same operations, attributes, shapes and wiring) of identical layers share their
// decisions.
struct Run {
  std::vector<graph::NodeId> nodes;
  std::string print;  // canonical text, free of names and of the run's place in the graph
};

// Every node of `graph` in exactly one run, in program order. A GEMM or attention is a run of one.
std::vector<Run> FindRuns(const graph::Graph& graph);

// Why the run that starts at `node` does not continue the one before it.
std::string WhyRunEnds(const graph::Graph& graph, const Run& before, graph::NodeId node);

}  // namespace blazed::fuse
