#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "client/trainer/workloads/workload.h"
#include "kernels/graph/graph.h"

namespace blazed::workloads {

// Fills in what the user left open. One pair of functions a workload: its sizes, and its graph.
struct Sizes {
  int width, seq, batch, layers, heads;
};

inline constexpr Sizes kChainSizes = {1024, 1, 256, 1, 1};
inline constexpr Sizes kMlpSizes = {256, 1, 128, 2, 1};
inline constexpr Sizes kAttentionSizes = {64, 256, 2, 2, 4};

// Each builds the whole graph in the options' regime; an error names what does not fit.
absl::StatusOr<graph::Graph> BuildChain(const WorkloadOptions& options);
absl::StatusOr<graph::Graph> BuildMlp(const WorkloadOptions& options);
absl::StatusOr<graph::Graph> BuildAttention(const WorkloadOptions& options);

}  // namespace blazed::workloads
