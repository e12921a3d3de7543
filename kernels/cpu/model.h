#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/workers.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/hash128.h"

namespace blazed::cpu {

// The memory that outlives any plan: parameters and optimiser state, shared by all variants of one
// graph, plus a shadow of each that probes write to instead. Not thread safe; one model, one
// thread.
class Model {
 public:
  // Allocates and fills parameters and state by their Initial rule from `seed`. Loads the
  // BLAS library: NOT_FOUND without it, RESOURCE_EXHAUSTED when memory does not suffice.
  static absl::StatusOr<std::unique_ptr<Model>> Create(std::shared_ptr<const graph::Graph> graph,
                                                       uint64_t seed);

  const graph::Graph& graph() const { return *graph_; }

  // Memory of a parameter or state; empty for other values.
  absl::Span<float> Data(graph::ValueId id);
  absl::Span<const float> Data(graph::ValueId id) const;
  float* Shadow(graph::ValueId id);

  // So many helpers for parts of a step, shared by all variants; started when first asked
  // for. RESOURCE_EXHAUSTED where the system starts no thread more.
  absl::StatusOr<Workers*> Helpers(int helpers);

  // Digest of every parameter and state, in graph order: equal after equal training.
  graph::Hash128 Digest() const;

  // Bytes of parameters, state and shadow.
  int64_t bytes() const { return bytes_; }

 private:
  explicit Model(std::shared_ptr<const graph::Graph> graph);

  std::shared_ptr<const graph::Graph> graph_;
  std::vector<Buffer> data_;    // by value id
  std::vector<Buffer> shadow_;  // by value id
  int64_t bytes_ = 0;
  std::vector<std::unique_ptr<Workers>> workers_;  // variants keep those that they were built with
};

}  // namespace blazed::cpu
