#include "kernels/cpu/step_inputs.h"

#include "absl/strings/str_cat.h"

namespace blazed::cpu {

StepInputs::StepInputs(const graph::Graph& graph) {
  for (const graph::ValueId id : graph.inputs()) {
    const graph::Value& value = graph.value(id);
    Buffer buffer;
    buffer.dtype = value.dtype;
    buffer.id_limit = value.id_limit;
    const auto count = static_cast<size_t>(value.shape.elements());
    if (value.dtype == graph::DType::kF32) {
      buffer.f32.resize(count);
    } else {
      buffer.i32.resize(count);
    }
    buffers_.push_back(std::move(buffer));
  }
}

absl::Span<float> StepInputs::F32(int index) {
  return absl::MakeSpan(buffers_[static_cast<size_t>(index)].f32);
}

absl::Span<int32_t> StepInputs::I32(int index) {
  return absl::MakeSpan(buffers_[static_cast<size_t>(index)].i32);
}

const void* StepInputs::data(int index) const {
  const Buffer& buffer = buffers_[static_cast<size_t>(index)];
  if (buffer.dtype == graph::DType::kF32) return buffer.f32.data();
  return buffer.i32.data();
}

absl::Status StepInputs::Check() const {
  for (const Buffer& buffer : buffers_) {
    for (const int32_t id : buffer.i32) {
      if (id < 0 || id >= buffer.id_limit) {
        return absl::InvalidArgumentError(absl::StrCat(
            "id ", id, " is outside [0, ", buffer.id_limit, "); map the text to ids first"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace blazed::cpu
