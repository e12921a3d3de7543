#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/graph/op.h"
#include "kernels/graph/types.h"

namespace blazed::graph {

// How a parameter or state starts. Numbers are drawn by a counter (seed, value, element), so a
// tensor's start depends on nothing but the seed and its place in the graph.
struct Initial {
  enum class Kind : uint8_t { kConstant, kNormal } kind = Kind::kConstant;
  float value = 0.0f;  // the constant, or the standard deviation
};

// One tensor. Owned by its Graph.
struct Value {
  ValueKind kind = ValueKind::kComputed;
  DType dtype = DType::kF32;
  Shape shape;
  std::string name = {};      // for people; never hashed
  NodeId producer = kNone;    // kComputed only
  ValueId stored_in = kNone;  // the parameter or state whose memory this computed value replaces
  Initial initial = {};       // kParameter and kState only
  int32_t id_limit = 0;       // kI32 inputs: ids must lie in [0, id_limit)
};

struct Attributes {
  float alpha = 0.0f;
  float beta = 0.0f;
  int32_t heads = 0;   // attention
  int32_t period = 0;  // attention: sequence length; tiled operations: T
};

struct Node {
  OpKind op = OpKind::kScale;
  Phase phase = Phase::kForward;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // one, except kAttention (o, statistics)
  Attributes attributes;
  std::string place = {};  // where in the model, such as "layer0/norm1"; for people, never hashed
};

// A value that a probe hands out. Role::kPrediction means: the tensor as an output, and the column
// of the largest element of each row as a prediction.
struct Exposed {
  ValueId value = kNone;
  Role role = Role::kOutput;
  std::string name = {};  // for people; a gradient has its parameter's name
};

// The static description of one tensor program in one regime: a list of nodes in program order.
// Immutable once built (see GraphBuilder). Cheap to move; share by const reference or shared_ptr.
class Graph {
 public:
  Regime regime() const { return regime_; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }

  // Inputs in the order they were declared.
  const std::vector<ValueId>& inputs() const { return inputs_; }
  // Outputs, the loss and the gradients; predictions are derived from outputs (argmax of a row).
  const std::vector<Exposed>& exposed() const { return exposed_; }
  // The scalar loss, or kNone in the forward regime.
  ValueId loss() const { return loss_; }

  // Nodes that read `id`, ascending.
  const std::vector<NodeId>& readers(ValueId id) const { return readers_[static_cast<size_t>(id)]; }

 private:
  friend class GraphBuilder;

  Regime regime_ = Regime::kForward;
  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<ValueId> inputs_;
  std::vector<Exposed> exposed_;
  ValueId loss_ = kNone;
  std::vector<std::vector<NodeId>> readers_;
};

// Rows a row-wise or reducing node walks over.
int64_t WalkRows(const Graph& graph, NodeId node);

}  // namespace blazed::graph
