#include <string>

#include "client/trainer/workloads/builders.h"
#include "kernels/graph/autodiff.h"
#include "kernels/graph/optimiser.h"

namespace blazed::workloads {

using graph::GraphBuilder;
using graph::Initial;
using graph::OpKind;
using graph::ValueId;

// Twelve elementwise operations over [batch, width], four row vectors as parameters, mean squared
// error against a target, plain gradient descent.
absl::StatusOr<graph::Graph> BuildChain(const WorkloadOptions& options) {
  GraphBuilder b(options.regime);
  const graph::Shape shape = {options.batch, options.width};
  const graph::Shape row = {1, options.width};
  const ValueId x = b.Input("x", shape);
  const ValueId gain = b.Parameter("gain", row, {Initial::Kind::kConstant, 1.0f});
  const ValueId shift = b.Parameter("shift", row, {});
  const ValueId gate = b.Parameter("gate", row, {Initial::Kind::kConstant, 0.5f});
  const ValueId offset = b.Parameter("offset", row, {});
  // By the parameter that a stretch begins with, so that no two boundaries bear one name.
  b.At("gain");
  const ValueId scaled = b.Binary(OpKind::kMultiplyRow, x, gain);  // 1
  b.At("shift");
  const ValueId shifted = b.Binary(OpKind::kAddRow, scaled, shift);  // 2
  const ValueId bent = b.Unary(OpKind::kTanh, shifted);              // 3
  const ValueId product = b.Binary(OpKind::kMultiply, bent, x);      // 4
  const ValueId sum = b.Binary(OpKind::kAdd, product, shifted);      // 5
  b.At("gate");
  const ValueId opened = b.Unary(OpKind::kSigmoid, sum);               // 6
  const ValueId gated = b.Binary(OpKind::kMultiplyRow, opened, gate);  // 7
  const ValueId mixed = b.Binary(OpKind::kAdd, gated, bent);           // 8
  const ValueId halved = b.Unary(OpKind::kScale, mixed, 0.5f);         // 9
  b.At("offset");
  const ValueId smooth = b.Unary(OpKind::kGelu, halved);                // 10
  const ValueId joined = b.Binary(OpKind::kSubtract, smooth, product);  // 11
  const ValueId y = b.Binary(OpKind::kAddRow, joined, offset);          // 12
  b.Expose(y, graph::Role::kOutput, "y");
  if (options.regime == graph::Regime::kTraining) {
    const ValueId target = b.Input("target", shape);
    const ValueId loss = b.MeanSquaredError(y, target);
    b.SetLoss(loss);
    // The mean spreads each gradient over batch * width elements; the rate makes up for the width.
    AppendSgd(&b, graph::AppendBackward(&b, loss), 0.05f * static_cast<float>(options.width));
  }
  std::string error;
  std::optional<graph::Graph> graph = b.Finish(&error);
  if (!graph.has_value()) return absl::InvalidArgumentError("chain: " + error);
  return *std::move(graph);
}

}  // namespace blazed::workloads
