#include "kernels/graph/builder.h"

#include <utility>

#include "kernels/graph/shape_rules.h"

namespace blazed::graph {

GraphBuilder::GraphBuilder(Regime regime) { graph_.regime_ = regime; }

void GraphBuilder::Fail(std::string sentence) {
  if (error_.empty()) error_ = std::move(sentence);
}

ValueId GraphBuilder::AddValue(Value value) {
  if (!ok()) return kNone;
  if (value.shape.rows <= 0 || value.shape.cols <= 0) {
    Fail("tensor \"" + value.name + "\" has no elements; give positive sizes");
    return kNone;
  }
  graph_.values_.push_back(std::move(value));
  graph_.readers_.emplace_back();
  return static_cast<ValueId>(graph_.values_.size()) - 1;
}

ValueId GraphBuilder::Input(std::string name, Shape shape) {
  const ValueId id = AddValue({.kind = ValueKind::kInput, .shape = shape, .name = std::move(name)});
  if (id != kNone) graph_.inputs_.push_back(id);
  return id;
}

ValueId GraphBuilder::InputIds(std::string name, int64_t rows, int32_t id_limit) {
  const ValueId id = AddValue({.kind = ValueKind::kInput,
                               .dtype = DType::kI32,
                               .shape = {rows, 1},
                               .name = std::move(name),
                               .id_limit = id_limit});
  if (id != kNone) graph_.inputs_.push_back(id);
  return id;
}

ValueId GraphBuilder::Parameter(std::string name, Shape shape, Initial initial) {
  return AddValue(
      {.kind = ValueKind::kParameter, .shape = shape, .name = std::move(name), .initial = initial});
}

ValueId GraphBuilder::State(std::string name, Shape shape, Initial initial) {
  return AddValue(
      {.kind = ValueKind::kState, .shape = shape, .name = std::move(name), .initial = initial});
}

void GraphBuilder::SetPhase(Phase phase) {
  if (phase < phase_) Fail("phases must come in the order forward, backward, optimiser");
  phase_ = phase;
}

void GraphBuilder::At(std::string place) { place_ = std::move(place); }

ValueId GraphBuilder::Apply(OpKind op, std::vector<ValueId> inputs, Attributes attributes,
                            Shape wanted) {
  if (!ok()) return kNone;
  std::vector<Shape> shapes;
  for (const ValueId id : inputs) {
    if (id < 0 || static_cast<size_t>(id) >= graph_.values_.size()) {
      Fail(std::string(OpName(op)) + " reads a tensor that does not exist");
      return kNone;
    }
    shapes.push_back(graph_.value(id).shape);
  }
  Shape out;
  const std::string why = InferShape(op, shapes, attributes, wanted, &out);
  if (!why.empty()) {
    Fail(why);
    return kNone;
  }
  const auto node = static_cast<NodeId>(graph_.nodes_.size());
  const ValueId value = AddValue({.shape = out, .producer = node});
  if (value == kNone) return kNone;
  for (const ValueId id : inputs) graph_.readers_[static_cast<size_t>(id)].push_back(node);
  graph_.nodes_.push_back({op, phase_, std::move(inputs), {value}, attributes, place_});
  return value;
}

GraphBuilder::AttentionResult GraphBuilder::Attention(ValueId qkv, int32_t heads, int32_t seq) {
  const ValueId out = Apply(OpKind::kAttention, {qkv}, {.heads = heads, .period = seq});
  if (out == kNone) return {};
  const auto node = static_cast<NodeId>(graph_.nodes_.size()) - 1;
  const ValueId statistics =
      AddValue({.shape = {graph_.value(out).shape.rows, 2 * heads}, .producer = node});
  graph_.nodes_.back().outputs.push_back(statistics);
  return {out, statistics};
}

ValueId GraphBuilder::LayerNorm(ValueId x, ValueId gain, ValueId bias, float epsilon) {
  if (!ok()) return kNone;
  const float inverse = 1.0f / static_cast<float>(graph_.value(x).shape.cols);
  const ValueId mean = RowSum(x, inverse);
  const ValueId centred = Binary(OpKind::kSubtractColumn, x, mean);
  const ValueId squares = Unary(OpKind::kSquare, centred);
  const ValueId variance = RowSum(squares, inverse);
  const ValueId rate = Unary(OpKind::kInverseSqrt, variance, epsilon);
  const ValueId normal = Binary(OpKind::kMultiplyColumn, centred, rate);
  const ValueId scaled = Binary(OpKind::kMultiplyRow, normal, gain);
  return Binary(OpKind::kAddRow, scaled, bias);
}

ValueId GraphBuilder::CrossEntropy(ValueId logits, ValueId targets) {
  if (!ok()) return kNone;
  At("loss");
  const float inverse = 1.0f / static_cast<float>(graph_.value(logits).shape.rows);
  const ValueId top = Unary(OpKind::kRowMax, logits);
  const ValueId weights = Binary(OpKind::kExpSubtractColumn, logits, top);
  const ValueId sum = RowSum(weights, 1.0f);
  const ValueId rows = Apply(OpKind::kCrossEntropy, {logits, top, weights, sum, targets});
  return ColumnSum(rows, inverse);
}

ValueId GraphBuilder::MeanSquaredError(ValueId x, ValueId target) {
  if (!ok()) return kNone;
  At("loss");
  const Shape shape = graph_.value(x).shape;
  const ValueId error = Binary(OpKind::kSubtract, x, target);
  const ValueId squares = Unary(OpKind::kSquare, error);
  const ValueId rows = RowSum(squares, 1.0f / static_cast<float>(shape.cols));
  return ColumnSum(rows, 1.0f / static_cast<float>(shape.rows));
}

void GraphBuilder::Store(ValueId value, ValueId target) {
  if (!ok()) return;
  if (graph_.value(value).shape != graph_.value(target).shape) {
    Fail("cannot store into \"" + graph_.value(target).name + "\": shapes differ");
    return;
  }
  graph_.values_[static_cast<size_t>(value)].stored_in = target;
}

void GraphBuilder::Expose(ValueId value, Role role, std::string name) {
  if (ok()) graph_.exposed_.push_back({value, role, std::move(name)});
}

void GraphBuilder::SetLoss(ValueId loss) {
  if (!ok()) return;
  graph_.loss_ = loss;
  Expose(loss, Role::kLoss, "loss");
}

bool GraphBuilder::CheckStores() {
  for (const Value& value : graph_.values_) {
    if (value.stored_in == kNone) continue;
    for (const NodeId reader : graph_.readers(value.stored_in)) {
      // A later reader would see the stored tensor where the graph says the one before.
      if (reader > value.producer) {
        Fail("\"" + graph_.value(value.stored_in).name + "\" is read after it was replaced");
        return false;
      }
    }
    if (!IsElementwise(graph_.node(value.producer).op)) {
      Fail("\"" + graph_.value(value.stored_in).name + "\" is not replaced element by element");
      return false;
    }
  }
  return true;
}

std::optional<Graph> GraphBuilder::Finish(std::string* error) {
  if (ok() && graph_.nodes_.empty()) Fail("the graph has no operation");
  if (!ok() || !CheckStores()) {
    *error = error_;
    return std::nullopt;
  }
  return std::move(graph_);
}

}  // namespace blazed::graph
