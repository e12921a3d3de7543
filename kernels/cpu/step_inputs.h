#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/graph/graph.h"

namespace blazed::cpu {

// The tensors of one step that come from outside, owned here. One thread at a time.
class StepInputs {
 public:
  // Buffers for every input of `graph`, zero filled.
  explicit StepInputs(const graph::Graph& graph);

  // The `index`-th input of Graph::inputs(), row-major. The dtype must match the input's.
  absl::Span<float> F32(int index);
  absl::Span<int32_t> I32(int index);
  const void* data(int index) const;

  // INVALID_ARGUMENT when an id lies outside its input's [0, id_limit). Call once after filling:
  // a variant trusts what it is given.
  absl::Status Check() const;

 private:
  struct Buffer {
    graph::DType dtype = graph::DType::kF32;
    int32_t id_limit = 0;
    std::vector<float> f32;
    std::vector<int32_t> i32;
  };
  std::vector<Buffer> buffers_;
};

}  // namespace blazed::cpu
