#include <string>

#include "client/trainer/workloads/builders.h"
#include "kernels/graph/autodiff.h"
#include "kernels/graph/optimiser.h"

namespace blazed::workloads {
namespace {

using graph::GraphBuilder;
using graph::Initial;
using graph::OpKind;
using graph::ValueId;

// x + W2 gelu(W1 norm(x) + b1) + b2.
ValueId AppendBlock(GraphBuilder* b, ValueId x, int width, int layer) {
  const std::string name = "layer" + std::to_string(layer) + "/";
  const graph::Shape row = {1, width};
  const graph::Shape square = {width, width};
  // Half the usual spread keeps the residual stream near its input at the start.
  const float spread = 0.5f / static_cast<float>(width);
  const Initial normal = {Initial::Kind::kNormal, spread * 16.0f};
  const ValueId gain = b->Parameter(name + "gain", row, {Initial::Kind::kConstant, 1.0f});
  const ValueId bias = b->Parameter(name + "bias", row, {});
  const ValueId w1 = b->Parameter(name + "w1", square, normal);
  const ValueId b1 = b->Parameter(name + "b1", row, {});
  const ValueId w2 = b->Parameter(name + "w2", square, normal);
  const ValueId b2 = b->Parameter(name + "b2", row, {});
  b->At(name + "norm");
  const ValueId normed = b->LayerNorm(x, gain, bias, 1e-5f);
  b->At(name + "up");
  const ValueId hidden = b->Binary(OpKind::kAddRow, b->Gemm(normed, w1), b1);
  b->At(name + "gelu");
  const ValueId active = b->Unary(OpKind::kGelu, hidden);
  b->At(name + "down");
  const ValueId out = b->Binary(OpKind::kAddRow, b->Gemm(active, w2), b2);
  b->At(name + "residual");
  return b->Binary(OpKind::kAdd, out, x);
}

}  // namespace

// A residual network over [batch, width] with as many blocks as layers, mean squared error against
// a fixed teacher's output, Adam.
absl::StatusOr<graph::Graph> BuildMlp(const WorkloadOptions& options) {
  GraphBuilder b(options.regime);
  const graph::Shape shape = {options.batch, options.width};
  ValueId x = b.Input("x", shape);
  for (int layer = 0; layer < options.layers && b.ok(); ++layer) {
    x = AppendBlock(&b, x, options.width, layer);
  }
  b.Expose(x, graph::Role::kOutput, "y");
  if (options.regime == graph::Regime::kTraining) {
    const ValueId target = b.Input("target", shape);
    const ValueId loss = b.MeanSquaredError(x, target);
    b.SetLoss(loss);
    AppendAdam(&b, graph::AppendBackward(&b, loss), {.rate = 1e-3f});
  }
  std::string error;
  std::optional<graph::Graph> graph = b.Finish(&error);
  if (!graph.has_value()) return absl::InvalidArgumentError("mlp: " + error);
  return *std::move(graph);
}

}  // namespace blazed::workloads
