#include "kernels/cpu/model.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/counter_random.h"

namespace blazed::cpu {
namespace {

bool OwnedByModel(const graph::Value& value) {
  return value.kind == graph::ValueKind::kParameter || value.kind == graph::ValueKind::kState;
}

void FillInitial(const graph::Initial& initial, uint64_t seed, uint64_t stream, Buffer* buffer) {
  for (int64_t i = 0; i < buffer->size(); ++i) {
    buffer->data()[i] = initial.kind == graph::Initial::Kind::kConstant
                            ? initial.value
                            : initial.value * NormalAt(seed, stream, static_cast<uint64_t>(i));
  }
}

}  // namespace

Model::Model(std::shared_ptr<const graph::Graph> graph) : graph_(std::move(graph)) {}

absl::StatusOr<std::unique_ptr<Model>> Model::Create(std::shared_ptr<const graph::Graph> graph,
                                                     uint64_t seed) {
  absl::Status blas = LoadBlas();
  if (!blas.ok()) return blas;
  std::unique_ptr<Model> model(new Model(std::move(graph)));
  const auto& values = model->graph().values();
  model->data_.resize(values.size());
  model->shadow_.resize(values.size());
  uint64_t stream = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!OwnedByModel(values[i])) continue;
    const int64_t floats = values[i].shape.elements();
    model->data_[i] = Buffer(floats);
    model->shadow_[i] = Buffer(floats);
    if (model->data_[i].data() == nullptr || model->shadow_[i].data() == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat("no memory for ", floats, " floats of \"",
                                                       values[i].name,
                                                       "\"; use a smaller width or fewer layers"));
    }
    FillInitial(values[i].initial, seed, stream++, &model->data_[i]);
    model->bytes_ += 2 * floats * static_cast<int64_t>(sizeof(float));
  }
  return model;
}

absl::Span<float> Model::Data(graph::ValueId id) {
  Buffer& buffer = data_[static_cast<size_t>(id)];
  return absl::MakeSpan(buffer.data(), static_cast<size_t>(buffer.size()));
}

absl::Span<const float> Model::Data(graph::ValueId id) const {
  const Buffer& buffer = data_[static_cast<size_t>(id)];
  return absl::MakeConstSpan(buffer.data(), static_cast<size_t>(buffer.size()));
}

absl::StatusOr<Workers*> Model::Helpers(int helpers) {
  for (const auto& workers : workers_) {
    if (workers->helpers() == helpers) return workers.get();
  }
  auto workers = Workers::Start(helpers);
  if (!workers.ok()) return workers.status();
  workers_.push_back(*std::move(workers));
  return workers_.back().get();
}

float* Model::Shadow(graph::ValueId id) { return shadow_[static_cast<size_t>(id)].data(); }

graph::Hash128 Model::Digest() const {
  std::string hashes;
  for (const Buffer& buffer : data_) {
    if (buffer.data() == nullptr) continue;
    hashes += graph::HashText(std::string_view(reinterpret_cast<const char*>(buffer.data()),
                                               static_cast<size_t>(buffer.size()) * sizeof(float)))
                  .ToHex();
  }
  return graph::HashText(hashes);
}

}  // namespace blazed::cpu
