#include "kernels/graph/autodiff.h"

#include <vector>

namespace blazed::graph {
namespace {

// One walk from the loss back to the parameters.
class Backward {
 public:
  explicit Backward(GraphBuilder* builder) : b_(*builder) {}

  Gradients Walk(ValueId loss);

 private:
  const Value& value(ValueId id) const { return b_.graph().value(id); }
  void MarkNeeded(NodeId count);
  bool Needed(ValueId id) const { return needed_[static_cast<size_t>(id)]; }
  void Add(ValueId to, ValueId part);
  void Visit(const Node& node);
  void VisitUnary(const Node& n, ValueId dy);
  void VisitBinary(const Node& n, ValueId dy);
  void VisitSpread(const Node& n, ValueId dy);
  void VisitRest(const Node& n, ValueId dy);

  GraphBuilder& b_;
  std::vector<bool> needed_;       // by value: a parameter lies upstream
  std::vector<ValueId> gradient_;  // by value
};

void Backward::MarkNeeded(NodeId count) {
  const Graph& graph = b_.graph();
  needed_.assign(graph.values().size(), false);
  for (size_t i = 0; i < graph.values().size(); ++i) {
    needed_[i] = graph.values()[i].kind == ValueKind::kParameter;
  }
  for (NodeId n = 0; n < count; ++n) {
    const Node& node = graph.node(n);
    if (node.op == OpKind::kRowMax) continue;
    for (const ValueId in : node.inputs) {
      if (!Needed(in)) continue;
      for (const ValueId out : node.outputs) needed_[static_cast<size_t>(out)] = true;
    }
  }
}

void Backward::Add(ValueId to, ValueId part) {
  if (part == kNone || !Needed(to)) return;
  ValueId& slot = gradient_[static_cast<size_t>(to)];
  slot = slot == kNone ? part : b_.Binary(OpKind::kAdd, slot, part);
}

void Backward::VisitUnary(const Node& n, ValueId dy) {
  const ValueId x = n.inputs[0];
  const ValueId y = n.outputs[0];
  if (!Needed(x)) return;
  switch (n.op) {
    case OpKind::kScale:
      return Add(x, b_.Unary(OpKind::kScale, dy, n.attributes.alpha));
    case OpKind::kAddConstant:
      return Add(x, dy);
    case OpKind::kExp:
      return Add(x, b_.Binary(OpKind::kMultiply, dy, y));
    case OpKind::kTanh:
      return Add(x, b_.Binary(OpKind::kTanhGrad, y, dy));
    case OpKind::kSigmoid:
      return Add(x, b_.Binary(OpKind::kSigmoidGrad, y, dy));
    case OpKind::kRelu:
      return Add(x, b_.Binary(OpKind::kReluGrad, x, dy));
    case OpKind::kGelu:
      return Add(x, b_.Binary(OpKind::kGeluGrad, x, dy));
    case OpKind::kInverseSqrt:
      return Add(x, b_.Binary(OpKind::kInverseSqrtGrad, y, dy));
    default: {  // kSquare
      const ValueId product = b_.Binary(OpKind::kMultiply, x, dy);
      return Add(x, b_.Unary(OpKind::kScale, product, 2.0f));
    }
  }
}

void Backward::VisitBinary(const Node& n, ValueId dy) {
  const ValueId x = n.inputs[0];
  const ValueId y = n.inputs[1];
  switch (n.op) {
    case OpKind::kAdd:
      Add(x, dy);
      return Add(y, dy);
    case OpKind::kSubtract:
      Add(x, dy);
      if (Needed(y)) Add(y, b_.Unary(OpKind::kScale, dy, -1.0f));
      return;
    case OpKind::kMultiply:
      if (Needed(x)) Add(x, b_.Binary(OpKind::kMultiply, dy, y));
      if (Needed(y)) Add(y, b_.Binary(OpKind::kMultiply, dy, x));
      return;
    default: {  // kDivide: z = x / y, dx = dy / y, dy = -dx * z
      const ValueId dx = b_.Binary(OpKind::kDivide, dy, y);
      Add(x, dx);
      if (!Needed(y)) return;
      const ValueId product = b_.Binary(OpKind::kMultiply, dx, n.outputs[0]);
      return Add(y, b_.Unary(OpKind::kScale, product, -1.0f));
    }
  }
}

void Backward::VisitSpread(const Node& n, ValueId dy) {
  const ValueId x = n.inputs[0];
  const ValueId v = n.inputs.size() > 1 ? n.inputs[1] : kNone;
  const Shape shape = value(x).shape;
  switch (n.op) {
    case OpKind::kAddRow:
      if (Needed(v)) Add(v, b_.ColumnSum(dy, 1.0f));
      return Add(x, dy);
    case OpKind::kMultiplyRow:
      if (Needed(v)) Add(v, b_.ColumnSum(b_.Binary(OpKind::kMultiply, dy, x), 1.0f));
      if (Needed(x)) Add(x, b_.Binary(OpKind::kMultiplyRow, dy, v));
      return;
    case OpKind::kAddColumn:
    case OpKind::kSubtractColumn:
      if (Needed(v)) Add(v, b_.RowSum(dy, n.op == OpKind::kAddColumn ? 1.0f : -1.0f));
      return Add(x, dy);
    case OpKind::kMultiplyColumn:
      if (Needed(v)) Add(v, b_.RowSum(b_.Binary(OpKind::kMultiply, dy, x), 1.0f));
      if (Needed(x)) Add(x, b_.Binary(OpKind::kMultiplyColumn, dy, v));
      return;
    case OpKind::kRowSum:
      if (Needed(x)) Add(x, b_.Apply(OpKind::kSpreadColumn, {dy}, n.attributes, shape));
      return;
    case OpKind::kColumnSum:
      if (Needed(x)) Add(x, b_.Apply(OpKind::kSpreadRow, {dy}, n.attributes, shape));
      return;
    default:  // kAddTiled
      if (Needed(v)) Add(v, b_.Apply(OpKind::kTiledSum, {dy}, n.attributes));
      return Add(x, dy);
  }
}

void Backward::VisitRest(const Node& n, ValueId dy) {
  const ValueId x = n.inputs[0];
  switch (n.op) {
    case OpKind::kGather:
      if (Needed(x)) Add(x, b_.Apply(OpKind::kScatterAdd, {n.inputs[1], dy}, {}, value(x).shape));
      return;
    case OpKind::kCrossEntropy:
      // The row maximum, the exponentials and their sum are the loss's own parts, so the whole
      // gradient goes to the logits here.
      if (Needed(x)) {
        Add(x, b_.Apply(OpKind::kCrossEntropyGrad, {n.inputs[2], n.inputs[3], n.inputs[4], dy}));
      }
      return;
    case OpKind::kGemm:
      if (Needed(n.inputs[1])) Add(n.inputs[1], b_.Binary(OpKind::kGemmTN, x, dy));
      if (Needed(x)) Add(x, b_.Binary(OpKind::kGemmNT, dy, n.inputs[1]));
      return;
    case OpKind::kAttention:
      if (Needed(x)) {
        Add(x, b_.Apply(OpKind::kAttentionGrad, {x, n.outputs[0], n.outputs[1], dy}, n.attributes));
      }
      return;
    default:
      return;
  }
}

void Backward::Visit(const Node& node) {
  const ValueId dy = gradient_[static_cast<size_t>(node.outputs[0])];
  if (dy == kNone) return;
  switch (node.op) {
    case OpKind::kAddRow:
    case OpKind::kMultiplyRow:
    case OpKind::kAddColumn:
    case OpKind::kSubtractColumn:
    case OpKind::kMultiplyColumn:
    case OpKind::kRowSum:
    case OpKind::kColumnSum:
    case OpKind::kAddTiled:
      return VisitSpread(node, dy);
    case OpKind::kAdd:
    case OpKind::kSubtract:
    case OpKind::kMultiply:
    case OpKind::kDivide:
      return VisitBinary(node, dy);
    case OpKind::kScale:
    case OpKind::kAddConstant:
    case OpKind::kExp:
    case OpKind::kTanh:
    case OpKind::kSigmoid:
    case OpKind::kRelu:
    case OpKind::kGelu:
    case OpKind::kSquare:
    case OpKind::kInverseSqrt:
      return VisitUnary(node, dy);
    default:
      return VisitRest(node, dy);
  }
}

Gradients Backward::Walk(ValueId loss) {
  const auto count = static_cast<NodeId>(b_.graph().nodes().size());
  MarkNeeded(count);
  gradient_.assign(needed_.size(), kNone);
  b_.SetPhase(Phase::kBackward);
  b_.At("loss");
  gradient_[static_cast<size_t>(loss)] = b_.Apply(OpKind::kFill, {}, {.alpha = 1.0f}, {1, 1});
  for (NodeId n = count - 1; n >= 0 && b_.ok(); --n) {
    const Node node = b_.graph().node(n);  // a copy: appending nodes moves the originals
    b_.At(node.place);
    Visit(node);
  }
  Gradients gradients;
  for (size_t i = 0; i < gradient_.size() && b_.ok(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (gradient_[i] == kNone || value(id).kind != ValueKind::kParameter) continue;
    gradients[id] = gradient_[i];
    b_.Expose(gradient_[i], Role::kGradient, value(id).name);
  }
  return gradients;
}

}  // namespace

Gradients AppendBackward(GraphBuilder* builder, ValueId loss) {
  return builder->ok() ? Backward(builder).Walk(loss) : Gradients();
}

}  // namespace blazed::graph
