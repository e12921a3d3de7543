#include "kernels/fuse/legality.h"

#include <algorithm>

namespace blazed::fuse {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpForm;
using graph::OpKind;
using graph::ValueId;

bool Tileable(OpKind op) {
  return graph::FormOf(op) == OpForm::kRowWise || graph::FormOf(op) == OpForm::kReduction;
}

bool Contains(const std::vector<ValueId>& ids, ValueId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// A tensor that both touch: then merging can save a trip to memory.
bool ShareTensor(const Node& a, const Node& b) {
  for (const ValueId in : b.inputs) {
    if (Contains(a.outputs, in) || Contains(a.inputs, in)) return true;
  }
  return false;
}

std::string WhyNotRead(const Node& producer, const Node& reader, int64_t rows) {
  for (size_t i = 0; i < reader.inputs.size(); ++i) {
    if (!Contains(producer.outputs, reader.inputs[i])) continue;
    if (!WritesByRow(producer)) {
      return "reads a " + std::string(OpName(producer.op)) +
             " that is unfinished until the last row";
    }
    if (rows > 1 && !ReadsByRow(reader, i)) {
      return "needs the whole of a tensor of which only a tile is done";
    }
  }
  return {};
}

}  // namespace

bool WritesByRow(const Node& node) { return graph::FormOf(node.op) != OpForm::kReduction; }

bool ReadsByRow(const Node& node, size_t index) {
  switch (node.op) {
    case OpKind::kAddRow:
    case OpKind::kMultiplyRow:
    case OpKind::kAddTiled:
      return index == 0;
    case OpKind::kSpreadRow:
      return false;
    case OpKind::kStepDownBy:
      return index < 2;
    case OpKind::kGather:
      return index == 1;
    case OpKind::kGemm:
    case OpKind::kGemmNT:
      return index == 0;
    default:
      return Tileable(node.op);
  }
}

std::string WhyUnsafe(const Graph& graph, const std::vector<NodeId>& block, NodeId id) {
  const Node& node = graph.node(id);
  const Node& last = graph.node(block.back());
  for (const OpKind op : {last.op, node.op}) {
    if (graph::FormOf(op) == OpForm::kContraction) return "a library GEMM is a block of its own";
    if (graph::FormOf(op) == OpForm::kAttention) return "attention works on whole sequences";
  }
  const int64_t rows = graph::WalkRows(graph, block.front());
  if (graph::WalkRows(graph, id) != rows) {
    return "walks " + std::to_string(graph::WalkRows(graph, id)) + " rows, its neighbour " +
           std::to_string(rows);
  }
  for (const NodeId member : block) {
    std::string why = WhyNotRead(graph.node(member), node, rows);
    if (!why.empty()) return why;
  }
  return {};
}

std::string WhyNotJoin(const Graph& graph, const std::vector<NodeId>& block, NodeId id) {
  std::string why = WhyUnsafe(graph, block, id);
  if (!why.empty()) return why;
  for (const NodeId member : block) {
    if (ShareTensor(graph.node(member), graph.node(id))) return {};
  }
  return "has no tensor in common with its neighbours";
}

std::string WhyUnsafeInside(const Graph& graph, NodeId gemm, NodeId id) {
  if (graph::WalkRows(graph, id) != graph::WalkRows(graph, gemm)) return "walks other rows";
  return WhyNotRead(graph.node(gemm), graph.node(id), graph::WalkRows(graph, gemm));
}

std::string WhyNoEpilogue(const Graph& graph, NodeId gemm, NodeId id) {
  const Node& product = graph.node(gemm);
  const Node& node = graph.node(id);
  if (product.op != OpKind::kGemm && product.op != OpKind::kGemmNT) {
    return "the product is finished only after the last row";
  }
  if (!Tileable(node.op)) return "what follows is no pass over rows";
  if (!Contains(node.inputs, product.outputs[0])) return "what follows does not read the product";
  return WhyUnsafeInside(graph, gemm, id);
}

}  // namespace blazed::fuse
