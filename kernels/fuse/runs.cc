#include "kernels/fuse/runs.h"

#include <cstdio>
#include <map>

#include "kernels/fuse/legality.h"

namespace blazed::fuse {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

class RunPrinter {
 public:
  explicit RunPrinter(const Graph& graph) : graph_(graph) {}

  std::string Print(const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) PrintNode(graph_.node(id), nodes.back());
    return std::move(text_);
  }

 private:
  void PrintNode(const Node& node, NodeId last) {
    text_ += graph::OpName(node.op);
    char attributes[96];
    std::snprintf(
        attributes, sizeof attributes, " %a %a %d %d", static_cast<double>(node.attributes.alpha),
        static_cast<double>(node.attributes.beta), node.attributes.heads, node.attributes.period);
    text_ += attributes;
    for (const ValueId in : node.inputs) text_.append(" ").append(Number(in));
    for (const ValueId out : node.outputs) {
      text_.append(" > ").append(Number(out)).append(Fate(out, last));
    }
    text_ += "\n";
  }

  // Numbered by first use, so that equal wiring gives equal text.
  std::string Number(ValueId id) {
    const auto [at, fresh] = numbers_.try_emplace(id, numbers_.size());
    std::string text = std::to_string(at->second);
    const graph::Value& value = graph_.value(id);
    if (fresh) {
      text.append(":").append(std::to_string(value.shape.rows));
      text.append("x").append(std::to_string(value.shape.cols));
    }
    return text;
  }

  // What becomes of an output decides what a cut costs.
  std::string Fate(ValueId id, NodeId last) const {
    if (graph_.value(id).stored_in != graph::kNone) return "=state";
    const auto& readers = graph_.readers(id);
    return !readers.empty() && readers.back() > last ? "=kept" : "";
  }

  const Graph& graph_;
  std::map<ValueId, size_t> numbers_;
  std::string text_;
};

}  // namespace

std::string WhyRunEnds(const Graph& graph, const Run& before, NodeId node) {
  // Tensors in common count over the whole run; whether a sum is finished depends on where the plan
  // cuts, so across the boundary itself only the direct neighbour counts here and lowering checks
  // the rest.
  const std::string pair = WhyNotJoin(graph, {before.nodes.back()}, node);
  if (pair.empty()) return {};
  return WhyNotJoin(graph, before.nodes, node);
}

std::vector<Run> FindRuns(const Graph& graph) {
  std::vector<Run> runs;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes().size()); ++id) {
    if (runs.empty() || !WhyRunEnds(graph, runs.back(), id).empty()) runs.emplace_back();
    runs.back().nodes.push_back(id);
  }
  for (Run& run : runs) run.print = RunPrinter(graph).Print(run.nodes);
  return runs;
}

}  // namespace blazed::fuse
