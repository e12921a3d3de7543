#include "kernels/graph/graph.h"

namespace blazed::graph {

int64_t WalkRows(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  switch (node.op) {
    case OpKind::kColumnSum:
    case OpKind::kTiledSum:
      return graph.value(node.inputs[0]).shape.rows;
    case OpKind::kScatterAdd:
      return graph.value(node.inputs[1]).shape.rows;
    default:
      return graph.value(node.outputs[0]).shape.rows;
  }
}

}  // namespace blazed::graph
