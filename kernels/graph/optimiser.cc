#include "kernels/graph/optimiser.h"

#include <string>

namespace blazed::graph {
namespace {

constexpr Shape kScalar = {1, 1};

// beta^t: the state is multiplied by beta before it is used, so it starts at one.
ValueId AppendPower(GraphBuilder* b, const std::string& name, float beta) {
  const ValueId power = b->State(name, kScalar, {Initial::Kind::kConstant, 1.0f});
  const ValueId next = b->Unary(OpKind::kScale, power, beta);
  b->Store(next, power);
  return next;
}

void AppendChain(GraphBuilder* b, ValueId parameter, ValueId gradient, ValueId rate,
                 const AdamOptions& options) {
  const Shape shape = b->graph().value(parameter).shape;
  const std::string name = b->graph().value(parameter).name;
  const ValueId mean = b->State(name + "/mean", shape, {});
  const ValueId square = b->State(name + "/square", shape, {});
  const ValueId mean_next = b->Apply(OpKind::kMix, {mean, gradient},
                                     {.alpha = options.beta1, .beta = 1.0f - options.beta1});
  b->Store(mean_next, mean);
  const ValueId square_next = b->Apply(OpKind::kMixSquare, {square, gradient},
                                       {.alpha = options.beta2, .beta = 1.0f - options.beta2});
  b->Store(square_next, square);
  const ValueId root = b->Unary(OpKind::kSqrtAdd, square_next, options.epsilon);
  const ValueId direction = b->Binary(OpKind::kDivide, mean_next, root);
  const ValueId next = b->Apply(OpKind::kStepDownBy, {parameter, direction, rate});
  b->Store(next, parameter);
}

}  // namespace

void AppendAdam(GraphBuilder* builder, const Gradients& gradients, const AdamOptions& options) {
  if (!builder->ok()) return;
  builder->SetPhase(Phase::kOptimiser);
  builder->At("adam");
  const ValueId power1 = AppendPower(builder, "adam/beta1_power", options.beta1);
  const ValueId power2 = AppendPower(builder, "adam/beta2_power", options.beta2);
  const ValueId rate = builder->Apply(OpKind::kAdamRate, {power1, power2}, {.alpha = options.rate});
  for (const auto& [parameter, gradient] : gradients) {
    if (!builder->ok()) return;
    builder->At(builder->graph().value(parameter).name);
    AppendChain(builder, parameter, gradient, rate, options);
  }
}

void AppendSgd(GraphBuilder* builder, const Gradients& gradients, float rate) {
  if (!builder->ok()) return;
  builder->SetPhase(Phase::kOptimiser);
  for (const auto& [parameter, gradient] : gradients) {
    if (!builder->ok()) return;
    builder->At(builder->graph().value(parameter).name);
    const ValueId next = builder->Apply(OpKind::kStepDown, {parameter, gradient}, {.alpha = rate});
    if (next == kNone) return;
    builder->Store(next, parameter);
  }
}

}  // namespace blazed::graph
