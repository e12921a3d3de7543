#include "kernels/graph/shape_rules.h"

namespace blazed::graph {
namespace {

std::string Text(const Shape& s) { return std::to_string(s.rows) + "x" + std::to_string(s.cols); }

std::string Mismatch(OpKind op, const std::vector<Shape>& in) {
  std::string text = std::string(OpName(op)) + " cannot take";
  for (const Shape& s : in) text.append(" ").append(Text(s));
  return text;
}

size_t InputCount(OpKind op) {
  switch (op) {
    case OpKind::kFill:
      return 0;
    case OpKind::kStepDownBy:
      return 3;
    case OpKind::kCrossEntropy:
      return 5;
    case OpKind::kCrossEntropyGrad:
    case OpKind::kAttentionGrad:
      return 4;
    case OpKind::kSpreadRow:
    case OpKind::kSpreadColumn:
    case OpKind::kRowSum:
    case OpKind::kRowMax:
    case OpKind::kColumnSum:
    case OpKind::kTiledSum:
    case OpKind::kAttention:
      return 1;
    default:
      return op < OpKind::kFill ? 1 : 2;
  }
}

bool SameShapes(const std::vector<Shape>& in, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    if (in[i] != in[0]) return false;
  }
  return true;
}

bool InferElementwise(OpKind op, const std::vector<Shape>& in, Shape wanted, Shape* out) {
  if (op == OpKind::kFill) {
    *out = wanted;
    return wanted.rows > 0 && wanted.cols > 0;
  }
  *out = in[0];
  if (op == OpKind::kStepDownBy) return SameShapes(in, 2) && in[2] == Shape{1, 1};
  if (op == OpKind::kAdamRate) return SameShapes(in, 2) && in[0] == Shape{1, 1};
  return SameShapes(in, in.size());
}

bool InferSpread(OpKind op, const std::vector<Shape>& in, const Attributes& attributes,
                 Shape wanted, Shape* out) {
  const int64_t period = attributes.period;
  switch (op) {
    case OpKind::kAddRow:
    case OpKind::kMultiplyRow:
      *out = in[0];
      return in[1] == Shape{1, in[0].cols};
    case OpKind::kAddColumn:
    case OpKind::kSubtractColumn:
    case OpKind::kMultiplyColumn:
    case OpKind::kExpSubtractColumn:
      *out = in[0];
      return in[1] == Shape{in[0].rows, 1};
    case OpKind::kSpreadRow:
      *out = {wanted.rows, in[0].cols};
      return in[0].rows == 1 && wanted.rows > 0;
    case OpKind::kSpreadColumn:
      *out = {in[0].rows, wanted.cols};
      return in[0].cols == 1 && wanted.cols > 0;
    default:  // kAddTiled
      *out = in[0];
      return period > 0 && in[1] == Shape{period, in[0].cols} && in[0].rows % period == 0;
  }
}

bool InferReduction(OpKind op, const std::vector<Shape>& in, const Attributes& attributes,
                    Shape wanted, Shape* out) {
  switch (op) {
    case OpKind::kRowSum:
    case OpKind::kRowMax:
      *out = {in[0].rows, 1};
      return true;
    case OpKind::kColumnSum:
      *out = {1, in[0].cols};
      return true;
    case OpKind::kTiledSum:
      *out = {attributes.period, in[0].cols};
      return attributes.period > 0 && in[0].rows % attributes.period == 0;
    default:  // kScatterAdd
      *out = {wanted.rows, in[1].cols};
      return wanted.rows > 0 && in[0] == Shape{in[1].rows, 1};
  }
}

bool InferLookup(OpKind op, const std::vector<Shape>& in, Shape* out) {
  if (op == OpKind::kGather) {
    *out = {in[1].rows, in[0].cols};
    return in[1].cols == 1;
  }
  const Shape column = {in[0].rows, 1};
  if (op == OpKind::kCrossEntropy) {
    *out = column;
    return in[1] == column && in[2] == in[0] && in[3] == column && in[4] == column;
  }
  *out = in[0];
  return in[1] == column && in[2] == column && in[3] == column;
}

bool InferContraction(OpKind op, const std::vector<Shape>& in, Shape* out) {
  if (op == OpKind::kGemm) {
    *out = {in[0].rows, in[1].cols};
    return in[0].cols == in[1].rows;
  }
  if (op == OpKind::kGemmNT) {
    *out = {in[0].rows, in[1].rows};
    return in[0].cols == in[1].cols;
  }
  *out = {in[0].cols, in[1].cols};
  return in[0].rows == in[1].rows;
}

bool InferAttention(OpKind op, const std::vector<Shape>& in, const Attributes& attributes,
                    Shape* out) {
  const int64_t heads = attributes.heads;
  const int64_t seq = attributes.period;
  if (heads <= 0 || seq <= 0 || in[0].cols % (3 * heads) != 0 || in[0].rows % seq != 0)
    return false;
  const Shape o = {in[0].rows, in[0].cols / 3};
  *out = op == OpKind::kAttention ? o : in[0];
  return op == OpKind::kAttention ||
         (in[1] == o && in[2] == Shape{in[0].rows, 2 * heads} && in[3] == o);
}

}  // namespace

std::string InferShape(OpKind op, const std::vector<Shape>& in, const Attributes& attributes,
                       Shape wanted, Shape* out) {
  if (in.size() != InputCount(op)) {
    return std::string(OpName(op)) + " takes " + std::to_string(InputCount(op)) + " inputs, not " +
           std::to_string(in.size());
  }
  bool fits = false;
  switch (FormOf(op)) {
    case OpForm::kContraction:
      fits = InferContraction(op, in, out);
      break;
    case OpForm::kAttention:
      fits = InferAttention(op, in, attributes, out);
      break;
    default:
      if (IsElementwise(op)) {
        fits = InferElementwise(op, in, wanted, out);
      } else if (op >= OpKind::kAddRow && op <= OpKind::kAddTiled) {
        fits = InferSpread(op, in, attributes, wanted, out);
      } else if (op >= OpKind::kRowSum && op <= OpKind::kScatterAdd) {
        fits = InferReduction(op, in, attributes, wanted, out);
      } else {
        fits = InferLookup(op, in, out);
      }
  }
  return fits ? std::string() : Mismatch(op, in);
}

}  // namespace blazed::graph
