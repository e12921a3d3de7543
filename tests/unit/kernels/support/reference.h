#pragma once

#include <map>
#include <vector>

#include "kernels/cpu/model.h"
#include "kernels/cpu/step_inputs.h"
#include "kernels/graph/graph.h"

namespace blazed::testing {

using Tensor = std::vector<double>;

// Evaluates a graph in double with the C library's functions, one operation at a time and in no
// particular order of sums: what the f32 kernels must come close to.
class Reference {
 public:
  Reference(const graph::Graph& graph, const cpu::Model& model, const cpu::StepInputs& inputs);

  // Parameters and inputs may be changed before Run().
  Tensor& value(graph::ValueId id) { return values_[id]; }
  const Tensor& operator[](graph::ValueId id) const { return values_.at(id); }

  void Run();

 private:
  void RunNode(const graph::Node& node);
  void RunElementwise(const graph::Node& node, Tensor* out);
  void RunSpread(const graph::Node& node, Tensor* out);
  void RunReduction(const graph::Node& node, Tensor* out);
  void RunLookup(const graph::Node& node, Tensor* out);
  void RunContraction(const graph::Node& node, Tensor* out);
  void RunAttention(const graph::Node& node);
  void RunAttentionGrad(const graph::Node& node);
  const graph::Shape& shape(graph::ValueId id) const { return graph_.value(id).shape; }

  const graph::Graph& graph_;
  std::map<graph::ValueId, Tensor> values_;
};

}  // namespace blazed::testing
