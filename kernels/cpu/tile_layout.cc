#include "kernels/cpu/tile_layout.h"

#include <algorithm>
#include <map>

#include "kernels/fuse/form.h"
#include "kernels/fuse/legality.h"

namespace blazed::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::ValueId;

// Gives local tensors places in a tile's scratch, in program order, and takes them back when they
// die.
class SlotPool {
 public:
  SlotPool(const Graph& graph, const std::vector<NodeId>& nodes) : graph_(graph), nodes_(nodes) {}

  // Assigns the output of `id`; call once a node in order.
  void Visit(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId out = node.outputs[0];
    const int64_t floats = graph_.value(out).shape.cols;
    const bool local = IsLocal(graph_, nodes_, out);
    const bool in_place = local && TakeOverDyingInput(node, id, out, floats);
    if (local && !in_place) slots_[out] = Acquire(floats);
    for (const ValueId in : node.inputs) Release(in, id);
    if (graph_.readers(out).empty()) Release(out, id);
  }

  int64_t floats() const { return total_; }
  bool Has(ValueId id) const { return slots_.count(id) != 0; }
  int64_t Offset(ValueId id) const { return slots_.at(id).offset; }

 private:
  struct Slot {
    int64_t offset = 0;
    int64_t floats = 0;
  };

  bool DiesAt(ValueId value, NodeId node) const {
    return graph_.readers(value).empty() || graph_.readers(value).back() == node;
  }

  // Element by element, reading before writing, an output can lie where a dying operand lay.
  bool TakeOverDyingInput(const Node& node, NodeId id, ValueId out, int64_t floats) {
    if (!graph::IsElementwise(node.op)) return false;
    for (const ValueId in : node.inputs) {
      const auto at = slots_.find(in);
      if (at == slots_.end() || !DiesAt(in, id) || at->second.floats != floats) continue;
      if (graph_.value(in).shape != graph_.value(out).shape || released_[in]) continue;
      slots_[out] = at->second;
      released_[in] = true;
      return true;
    }
    return false;
  }

  Slot Acquire(int64_t floats) {
    for (size_t i = 0; i < free_.size(); ++i) {
      if (free_[i].floats != floats) continue;
      const Slot slot = free_[i];
      free_.erase(free_.begin() + static_cast<int64_t>(i));
      return slot;
    }
    const Slot slot = {total_, floats};
    total_ += floats;
    return slot;
  }

  void Release(ValueId id, NodeId node) {
    const auto at = slots_.find(id);
    if (at == slots_.end() || !DiesAt(id, node) || released_[id]) return;
    released_[id] = true;
    free_.push_back(at->second);
  }

  const Graph& graph_;
  const std::vector<NodeId>& nodes_;
  std::map<ValueId, Slot> slots_;
  std::map<ValueId, bool> released_;
  std::vector<Slot> free_;
  int64_t total_ = 0;
};

class Layout {
 public:
  Layout(const Graph& graph, const KernelTable& kernels, Block* block)
      : graph_(graph), kernels_(kernels), block_(*block), pool_(graph, block->nodes) {}

  void Run(const BuildOptions& options) {
    const bool inside = block_.gemm != graph::kNone;
    if (inside) {
      product_ = graph_.node(block_.gemm).outputs[0];
      const bool local = IsLocal(graph_, block_.nodes, product_);
      block_.product_place = local ? Place::kPanel : Place::kMemory;
    }
    block_.walk_rows = graph::WalkRows(graph_, block_.nodes.back());
    for (size_t i = inside ? 1 : 0; i < block_.nodes.size(); ++i) AddOp(block_.nodes[i]);
    block_.slot_floats = pool_.floats();
    block_.tile_rows = TileRows(options);
  }

 private:
  Operand MakeOperand(ValueId id, bool by_row) {
    Operand operand;
    operand.value = id;
    operand.by_row = by_row;
    operand.row_floats = graph_.value(id).shape.cols;
    if (pool_.Has(id)) {
      operand.place = Place::kScratch;
      operand.slot_offset = pool_.Offset(id);
    } else if (id == product_) {
      operand.place = block_.product_place;
    }
    if (operand.place == Place::kMemory && by_row) streams_[id] = operand.row_floats;
    return operand;
  }

  void AddOp(NodeId id) {
    const Node& node = graph_.node(id);
    TileOp op;
    op.node = id;
    op.run = kernels_.tile[static_cast<size_t>(node.op)];
    FillConstants(node, &op.constants);
    // Inputs first: an output may take over the slot of an input that dies here.
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      op.inputs.push_back(MakeOperand(node.inputs[i], fuse::ReadsByRow(node, i)));
      if (graph_.value(node.inputs[i]).dtype == graph::DType::kI32)
        op.ids_input = static_cast<int>(i);
    }
    pool_.Visit(id);
    op.output = MakeOperand(node.outputs[0], fuse::WritesByRow(node));
    if (node.op == OpKind::kColumnSum) {
      op.state_offset = block_.state_floats;
      block_.state_floats += ColumnSumStateFloats(block_.walk_rows, op.constants.cols);
    }
    block_.ops.push_back(std::move(op));
  }

  void FillConstants(const Node& node, TileArgs* args) const {
    int64_t cols = graph_.value(node.outputs[0]).shape.cols;
    if (node.op == OpKind::kRowSum || node.op == OpKind::kRowMax ||
        node.op == OpKind::kCrossEntropy) {
      cols = graph_.value(node.inputs[0]).shape.cols;
    }
    args->cols = cols;
    args->total_rows = block_.walk_rows;
    args->table_rows = graph_.value(node.outputs[0]).shape.rows;
    args->alpha = node.attributes.alpha;
    args->beta = node.attributes.beta;
    args->period = node.attributes.period;
  }

  // As many rows as the working set allows: scratch, and the tensors that stream through.
  int64_t TileRows(const BuildOptions& options) const {
    if (block_.ops.size() == 1 && block_.gemm == graph::kNone) return block_.walk_rows;
    int64_t row_floats = block_.slot_floats;
    for (const auto& [id, floats] : streams_) row_floats += floats;
    const int64_t bytes = std::max<int64_t>(1, row_floats) * static_cast<int64_t>(sizeof(float));
    const int64_t limit = block_.gemm == graph::kNone ? block_.walk_rows : fuse::kGemmPanelRows;
    return std::clamp<int64_t>(options.tile_bytes / bytes, 1, std::min(limit, block_.walk_rows));
  }

  const Graph& graph_;
  const KernelTable& kernels_;
  Block& block_;
  SlotPool pool_;
  ValueId product_ = graph::kNone;
  std::map<ValueId, int64_t> streams_;  // floats a row of tensors in memory
};

}  // namespace

bool IsLocal(const Graph& graph, const std::vector<NodeId>& nodes, ValueId id) {
  const graph::Value& value = graph.value(id);
  if (value.stored_in != graph::kNone) return false;
  if (!fuse::WritesByRow(graph.node(value.producer))) return false;
  for (const graph::Exposed& exposed : graph.exposed()) {
    if (exposed.value == id) return false;
  }
  // Nodes of a block are consecutive, and readers come after their producer.
  return graph.readers(id).empty() || graph.readers(id).back() <= nodes.back();
}

int64_t SlotFloatsPerRow(const Graph& graph, const std::vector<NodeId>& nodes) {
  SlotPool pool(graph, nodes);
  for (const NodeId id : nodes) {
    if (graph::FormOf(graph.node(id).op) != graph::OpForm::kContraction) pool.Visit(id);
  }
  return pool.floats();
}

void LayOutTiles(const Graph& graph, const BuildOptions& options, const KernelTable& kernels,
                 Block* block) {
  Layout(graph, kernels, block).Run(options);
}

}  // namespace blazed::cpu
