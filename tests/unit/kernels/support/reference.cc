#include "tests/unit/kernels/support/reference.h"

#include <algorithm>
#include <cmath>

namespace blazed::testing {
namespace {

using graph::Node;
using graph::OpKind;

double Gelu(double x) {
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}

double GeluSlope(double x) {
  const double c = std::sqrt(2.0 / M_PI);
  const double t = std::tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * c * (1.0 + 3.0 * 0.044715 * x * x);
}

double Elementwise(OpKind op, double x, double y, double a, double b) {
  switch (op) {
    case OpKind::kScale:
      return a * x;
    case OpKind::kAddConstant:
      return x + a;
    case OpKind::kExp:
      return std::exp(x);
    case OpKind::kTanh:
      return std::tanh(x);
    case OpKind::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case OpKind::kRelu:
      return x > 0 ? x : 0.0;
    case OpKind::kGelu:
      return Gelu(x);
    case OpKind::kSquare:
      return x * x;
    case OpKind::kSqrtAdd:
      return std::sqrt(x) + a;
    case OpKind::kInverseSqrt:
      return 1.0 / std::sqrt(x + a);
    case OpKind::kFill:
      return a;
    case OpKind::kAdd:
      return x + y;
    case OpKind::kSubtract:
      return x - y;
    case OpKind::kMultiply:
      return x * y;
    case OpKind::kDivide:
      return x / y;
    case OpKind::kTanhGrad:
      return y * (1.0 - x * x);
    case OpKind::kSigmoidGrad:
      return y * x * (1.0 - x);
    case OpKind::kReluGrad:
      return x > 0 ? y : 0.0;
    case OpKind::kGeluGrad:
      return y * GeluSlope(x);
    case OpKind::kInverseSqrtGrad:
      return -0.5 * y * x * x * x;
    case OpKind::kMix:
      return a * x + b * y;
    case OpKind::kMixSquare:
      return a * x + b * y * y;
    case OpKind::kStepDown:
      return x - a * y;
    default:
      return a * std::sqrt(1.0 - y) / (1.0 - x);  // kAdamRate
  }
}

}  // namespace

Reference::Reference(const graph::Graph& graph, const cpu::Model& model,
                     const cpu::StepInputs& inputs)
    : graph_(graph) {
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const auto id = static_cast<graph::ValueId>(i);
    for (const float x : model.Data(id)) values_[id].push_back(x);
  }
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const graph::ValueId id = graph.inputs()[i];
    const void* data = inputs.data(static_cast<int>(i));
    for (int64_t e = 0; e < shape(id).elements(); ++e) {
      const bool real = graph.value(id).dtype == graph::DType::kF32;
      values_[id].push_back(real ? static_cast<const float*>(data)[e]
                                 : static_cast<double>(static_cast<const int32_t*>(data)[e]));
    }
  }
}

void Reference::Run() {
  for (const Node& node : graph_.nodes()) RunNode(node);
}

void Reference::RunNode(const Node& node) {
  if (node.op == OpKind::kAttention) return RunAttention(node);
  if (node.op == OpKind::kAttentionGrad) return RunAttentionGrad(node);
  Tensor out(static_cast<size_t>(shape(node.outputs[0]).elements()));
  if (graph::FormOf(node.op) == graph::OpForm::kContraction) {
    RunContraction(node, &out);
  } else if (graph::IsElementwise(node.op)) {
    RunElementwise(node, &out);
  } else if (node.op >= OpKind::kAddRow && node.op <= OpKind::kAddTiled) {
    RunSpread(node, &out);
  } else if (node.op >= OpKind::kRowSum && node.op <= OpKind::kScatterAdd) {
    RunReduction(node, &out);
  } else {
    RunLookup(node, &out);
  }
  values_[node.outputs[0]] = std::move(out);
}

void Reference::RunElementwise(const Node& node, Tensor* out) {
  const double a = node.attributes.alpha;
  const double b = node.attributes.beta;
  for (size_t i = 0; i < out->size(); ++i) {
    const double x = node.inputs.empty() ? 0.0 : values_[node.inputs[0]][i];
    const double y = node.inputs.size() < 2 ? 0.0 : values_[node.inputs[1]][i];
    (*out)[i] = node.op == OpKind::kStepDownBy ? x - values_[node.inputs[2]][0] * y
                                               : Elementwise(node.op, x, y, a, b);
  }
}

void Reference::RunSpread(const Node& node, Tensor* out) {
  const graph::Shape s = shape(node.outputs[0]);
  const Tensor& x = values_[node.inputs[0]];
  const Tensor* v = node.inputs.size() > 1 ? &values_[node.inputs[1]] : nullptr;
  const auto cols = static_cast<size_t>(s.cols);
  for (size_t i = 0; i < out->size(); ++i) {
    const size_t r = i / cols;
    const size_t c = i % cols;
    switch (node.op) {
      case OpKind::kAddRow:
        (*out)[i] = x[i] + (*v)[c];
        break;
      case OpKind::kMultiplyRow:
        (*out)[i] = x[i] * (*v)[c];
        break;
      case OpKind::kAddColumn:
        (*out)[i] = x[i] + (*v)[r];
        break;
      case OpKind::kSubtractColumn:
        (*out)[i] = x[i] - (*v)[r];
        break;
      case OpKind::kMultiplyColumn:
        (*out)[i] = x[i] * (*v)[r];
        break;
      case OpKind::kExpSubtractColumn:
        (*out)[i] = std::exp(x[i] - (*v)[r]);
        break;
      case OpKind::kSpreadRow:
        (*out)[i] = node.attributes.alpha * x[c];
        break;
      case OpKind::kSpreadColumn:
        (*out)[i] = node.attributes.alpha * x[r];
        break;
      default:
        (*out)[i] = x[i] + (*v)[(r % static_cast<size_t>(node.attributes.period)) * cols + c];
    }
  }
}

void Reference::RunReduction(const Node& node, Tensor* out) {
  const bool scatter = node.op == OpKind::kScatterAdd;
  const graph::ValueId in = node.inputs[scatter ? 1 : 0];
  const Tensor& x = values_[in];
  const auto cols = static_cast<size_t>(shape(in).cols);
  if (node.op == OpKind::kRowMax) std::fill(out->begin(), out->end(), -INFINITY);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t r = i / cols;
    const size_t c = i % cols;
    switch (node.op) {
      case OpKind::kRowSum:
        (*out)[r] += node.attributes.alpha * x[i];
        break;
      case OpKind::kRowMax:
        (*out)[r] = std::max((*out)[r], x[i]);
        break;
      case OpKind::kColumnSum:
        (*out)[c] += node.attributes.alpha * x[i];
        break;
      case OpKind::kTiledSum:
        (*out)[(r % static_cast<size_t>(node.attributes.period)) * cols + c] += x[i];
        break;
      default:
        (*out)[static_cast<size_t>(values_[node.inputs[0]][r]) * cols + c] += x[i];
    }
  }
}

void Reference::RunLookup(const Node& node, Tensor* out) {
  const Tensor& x = values_[node.inputs[0]];
  const auto cols = static_cast<size_t>(shape(node.inputs[0]).cols);
  for (size_t i = 0; i < out->size(); ++i) {
    if (node.op == OpKind::kGather) {
      (*out)[i] = x[static_cast<size_t>(values_[node.inputs[1]][i / cols]) * cols + i % cols];
    } else if (node.op == OpKind::kCrossEntropy) {
      const auto target = static_cast<size_t>(values_[node.inputs[4]][i]);
      (*out)[i] = std::log(values_[node.inputs[3]][i]) -
                  (x[i * cols + target] - values_[node.inputs[1]][i]);
    } else {
      const size_t r = i / cols;
      const bool target = static_cast<size_t>(values_[node.inputs[2]][r]) == i % cols;
      (*out)[i] =
          (x[i] / values_[node.inputs[1]][r] - (target ? 1.0 : 0.0)) * values_[node.inputs[3]][r];
    }
  }
}

void Reference::RunContraction(const Node& node, Tensor* out) {
  const Tensor& x = values_[node.inputs[0]];
  const Tensor& y = values_[node.inputs[1]];
  const graph::Shape xs = shape(node.inputs[0]);
  const graph::Shape ys = shape(node.inputs[1]);
  const graph::Shape os = shape(node.outputs[0]);
  const int64_t inner = node.op == OpKind::kGemmTN ? xs.rows : xs.cols;
  for (int64_t i = 0; i < os.rows; ++i) {
    for (int64_t j = 0; j < os.cols; ++j) {
      double sum = 0.0;
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t at = node.op == OpKind::kGemmTN ? k * xs.cols + i : i * xs.cols + k;
        const int64_t bt = node.op == OpKind::kGemmNT ? j * ys.cols + k : k * ys.cols + j;
        sum += x[static_cast<size_t>(at)] * y[static_cast<size_t>(bt)];
      }
      (*out)[static_cast<size_t>(i * os.cols + j)] = sum;
    }
  }
}

// Weights of row `r` of head `h`, over the keys of its own sequence up to itself.
static std::vector<double> Weights(const Tensor& qkv, int64_t width, int64_t dim, int64_t head,
                                   int64_t first, int64_t row) {
  std::vector<double> w;
  double top = -INFINITY;
  for (int64_t k = first; k <= row; ++k) {
    double score = 0.0;
    for (int64_t d = 0; d < dim; ++d) {
      score += qkv[static_cast<size_t>(row * 3 * width + head * dim + d)] *
               qkv[static_cast<size_t>(k * 3 * width + width + head * dim + d)];
    }
    w.push_back(score / std::sqrt(static_cast<double>(dim)));
    top = std::max(top, w.back());
  }
  double sum = 0.0;
  for (double& x : w) sum += x = std::exp(x - top);
  for (double& x : w) x /= sum;
  return w;
}

void Reference::RunAttention(const Node& node) {
  const Tensor& qkv = values_[node.inputs[0]];
  const graph::Shape s = shape(node.outputs[0]);
  const int64_t dim = s.cols / node.attributes.heads;
  Tensor out(static_cast<size_t>(s.elements()));
  for (int64_t r = 0; r < s.rows; ++r) {
    const int64_t first = r / node.attributes.period * node.attributes.period;
    for (int64_t h = 0; h < node.attributes.heads; ++h) {
      const std::vector<double> w = Weights(qkv, s.cols, dim, h, first, r);
      for (int64_t k = first; k <= r; ++k) {
        for (int64_t d = 0; d < dim; ++d) {
          out[static_cast<size_t>(r * s.cols + h * dim + d)] +=
              w[static_cast<size_t>(k - first)] *
              qkv[static_cast<size_t>(k * 3 * s.cols + 2 * s.cols + h * dim + d)];
        }
      }
    }
  }
  values_[node.outputs[0]] = std::move(out);
  values_[node.outputs[1]] = {};  // recomputed where needed
}

void Reference::RunAttentionGrad(const Node& node) {
  const Tensor& qkv = values_[node.inputs[0]];
  const Tensor& o = values_[node.inputs[1]];
  const Tensor& d_out = values_[node.inputs[3]];
  const int64_t width = shape(node.inputs[1]).cols;
  const int64_t dim = width / node.attributes.heads;
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  Tensor grad(qkv.size());
  const auto at = [&](int64_t row, int64_t part, int64_t column) {
    return static_cast<size_t>(row * 3 * width + part * width + column);
  };
  for (int64_t r = 0; r < shape(node.inputs[1]).rows; ++r) {
    const int64_t first = r / node.attributes.period * node.attributes.period;
    for (int64_t h = 0; h < node.attributes.heads; ++h) {
      const std::vector<double> w = Weights(qkv, width, dim, h, first, r);
      double product = 0.0;
      for (int64_t c = h * dim; c < (h + 1) * dim; ++c) {
        product +=
            o[static_cast<size_t>(r * width + c)] * d_out[static_cast<size_t>(r * width + c)];
      }
      for (int64_t k = first; k <= r; ++k) {
        const double p = w[static_cast<size_t>(k - first)];
        double dp = 0.0;
        for (int64_t c = h * dim; c < (h + 1) * dim; ++c) {
          dp += d_out[static_cast<size_t>(r * width + c)] * qkv[at(k, 2, c)];
        }
        const double slope = p * (dp - product) * scale;
        for (int64_t c = h * dim; c < (h + 1) * dim; ++c) {
          grad[at(r, 0, c)] += slope * qkv[at(k, 1, c)];
          grad[at(k, 1, c)] += slope * qkv[at(r, 0, c)];
          grad[at(k, 2, c)] += p * d_out[static_cast<size_t>(r * width + c)];
        }
      }
    }
  }
  values_[node.outputs[0]] = std::move(grad);
}

}  // namespace blazed::testing
