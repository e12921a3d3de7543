#include <string>

#include "client/trainer/workloads/builders.h"
#include "kernels/graph/autodiff.h"
#include "kernels/graph/optimiser.h"

namespace blazed::workloads {
namespace {

using graph::GraphBuilder;
using graph::Initial;
using graph::OpKind;
using graph::Shape;
using graph::ValueId;

constexpr Initial kOne = {Initial::Kind::kConstant, 1.0f};
constexpr Initial kNormal = {Initial::Kind::kNormal, 0.02f};

// x*W + b, with parameters of its own.
ValueId AppendLinear(GraphBuilder* b, ValueId x, const std::string& name, int in, int out) {
  b->At(name);
  const ValueId weight = b->Parameter(name + "/weight", {in, out}, kNormal);
  const ValueId bias = b->Parameter(name + "/bias", {1, out}, {});
  return b->Binary(OpKind::kAddRow, b->Gemm(x, weight), bias);
}

ValueId AppendNorm(GraphBuilder* b, ValueId x, const std::string& name, int width) {
  b->At(name);
  const ValueId gain = b->Parameter(name + "/gain", {1, width}, kOne);
  const ValueId bias = b->Parameter(name + "/bias", {1, width}, {});
  return b->LayerNorm(x, gain, bias, 1e-5f);
}

// x + proj(attention(norm(x))), then that + mlp(norm(that)).
ValueId AppendLayer(GraphBuilder* b, ValueId x, const WorkloadOptions& options, int layer) {
  const std::string name = "layer" + std::to_string(layer);
  const int width = options.width;
  const ValueId normed = AppendNorm(b, x, name + "/norm1", width);
  // Without a bias: that of the keys has no gradient but rounding (scores that all move by the same
  // change no softmax), of which Adam makes whole steps. Plans that sum in another order would
  // leave other numbers there, and none of them would be wrong.
  b->At(name + "/qkv");
  const ValueId qkv =
      b->Gemm(normed, b->Parameter(name + "/qkv/weight", {width, 3 * width}, kNormal));
  b->At(name + "/attention");
  const ValueId mixed = b->Attention(qkv, options.heads, options.seq).out;
  const ValueId projected = AppendLinear(b, mixed, name + "/project", width, width);
  b->At(name + "/residual1");
  const ValueId middle = b->Binary(OpKind::kAdd, projected, x);
  const ValueId normed2 = AppendNorm(b, middle, name + "/norm2", width);
  const ValueId hidden = AppendLinear(b, normed2, name + "/up", width, 4 * width);
  b->At(name + "/gelu");
  const ValueId active = b->Unary(OpKind::kGelu, hidden);
  const ValueId down = AppendLinear(b, active, name + "/down", 4 * width, width);
  b->At(name + "/residual2");
  return b->Binary(OpKind::kAdd, down, middle);
}

}  // namespace

// A character-level language model: embedding and positions, pre-norm transformer layers, logits
// over the characters, cross-entropy against the next character, Adam.
absl::StatusOr<graph::Graph> BuildAttention(const WorkloadOptions& options) {
  GraphBuilder b(options.regime);
  const int64_t rows = static_cast<int64_t>(options.batch) * options.seq;
  const int width = options.width;
  const ValueId tokens = b.InputIds("tokens", rows, Corpus::kVocabulary);
  const ValueId table = b.Parameter("embedding", {Corpus::kVocabulary, width}, kNormal);
  const ValueId places = b.Parameter("positions", {options.seq, width}, kNormal);
  b.At("embedding");
  ValueId x = b.Binary(OpKind::kGather, table, tokens);
  x = b.Apply(OpKind::kAddTiled, {x, places}, {.period = options.seq});
  for (int layer = 0; layer < options.layers && b.ok(); ++layer) {
    x = AppendLayer(&b, x, options, layer);
  }
  const ValueId normed = AppendNorm(&b, x, "norm", width);
  const ValueId logits = AppendLinear(&b, normed, "logits", width, Corpus::kVocabulary);
  b.Expose(logits, graph::Role::kPrediction, "logits");
  if (options.regime == graph::Regime::kTraining) {
    const ValueId targets = b.InputIds("targets", rows, Corpus::kVocabulary);
    const ValueId loss = b.CrossEntropy(logits, targets);
    b.SetLoss(loss);
    AppendAdam(&b, graph::AppendBackward(&b, loss), {.rate = 1e-3f});
  }
  std::string error;
  std::optional<graph::Graph> graph = b.Finish(&error);
  if (!graph.has_value()) return absl::InvalidArgumentError("attention: " + error);
  return *std::move(graph);
}

}  // namespace blazed::workloads
