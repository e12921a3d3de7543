#include "kernels/cpu/memory_plan.h"

#include <algorithm>

#include "kernels/cpu/tile_layout.h"
#include "kernels/fuse/form.h"

namespace blazed::cpu {
namespace {

using graph::Graph;
using graph::ValueId;

// A piece of the arena with the blocks during which it must stay.
struct Piece {
  int64_t floats = 0;
  int first = 0;
  int last = 0;
  int64_t* offset = nullptr;
};

constexpr int64_t kAlignFloats = 16;

int64_t Aligned(int64_t floats) {
  return (floats + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
}

// Largest first, each at the lowest place free of pieces alive at the same time. Returns the
// arena's size.
int64_t Pack(std::vector<Piece> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.floats > b.floats; });
  std::vector<const Piece*> placed;  // by offset
  int64_t size = 0;
  for (const Piece& piece : pieces) {
    int64_t at = 0;
    for (const Piece* other : placed) {
      if (other->last < piece.first || other->first > piece.last) continue;
      if (at + Aligned(piece.floats) <= *other->offset) break;
      at = std::max(at, *other->offset + Aligned(other->floats));
    }
    *piece.offset = at;
    size = std::max(size, at + Aligned(piece.floats));
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), &piece,
                         [](const Piece* a, const Piece* b) { return *a->offset < *b->offset; });
    placed.insert(place, &piece);
  }
  return size;
}

class Placer {
 public:
  Placer(const Graph& graph, Program* program) : graph_(graph), program_(*program) {
    block_of_.resize(graph.nodes().size());
    for (size_t b = 0; b < program_.blocks.size(); ++b) {
      for (const graph::NodeId id : program_.blocks[b].nodes) {
        block_of_[static_cast<size_t>(id)] = static_cast<int>(b);
      }
    }
  }

  void Run() {
    program_.offset.assign(graph_.values().size(), -1);
    for (size_t i = 0; i < graph_.values().size(); ++i) AddValue(static_cast<ValueId>(i));
    AddWeights();
    program_.arena_floats = Pack(std::move(pieces_));
    for (Block& block : program_.blocks) {
      // A line of cache is never two parts' own.
      block.part_floats = block.parts == 1 ? PartFloats(block) : Aligned(PartFloats(block));
      const int64_t floats = block.parts * block.part_floats + block.totals_floats;
      program_.scratch_floats = std::max(program_.scratch_floats, floats);
    }
  }

 private:
  int BlockOf(graph::NodeId id) const { return block_of_[static_cast<size_t>(id)]; }

  void AddValue(ValueId id) {
    const graph::Value& value = graph_.value(id);
    if (value.kind != graph::ValueKind::kComputed || value.stored_in != graph::kNone) return;
    const int born = BlockOf(value.producer);
    const Block& block = program_.blocks[static_cast<size_t>(born)];
    if (block.kind == BlockKind::kRows && IsLocal(graph_, block.nodes, id)) return;
    int last = born;
    for (const graph::NodeId reader : graph_.readers(id)) last = std::max(last, BlockOf(reader));
    for (const graph::Exposed& exposed : graph_.exposed()) {
      // A probe copies what is exposed after the last block.
      if (exposed.value == id) last = static_cast<int>(program_.blocks.size());
    }
    pieces_.push_back(
        {value.shape.elements(), born, last, &program_.offset[static_cast<size_t>(id)]});
  }

  // The forward writes the weights, the backward that reads its statistics uses them up.
  void AddWeights() {
    for (size_t b = 0; b < program_.blocks.size(); ++b) {
      Block& block = program_.blocks[b];
      if (block.kind != BlockKind::kAttention || block.streamed) continue;
      const graph::Node& node = graph_.node(block.nodes[0]);
      int last = static_cast<int>(b);
      for (const graph::NodeId reader : graph_.readers(node.outputs[1])) {
        last = std::max(last, BlockOf(reader));
      }
      const graph::Shape shape = graph_.value(node.inputs[0]).shape;
      const int64_t seq = node.attributes.period;
      pieces_.push_back({AttentionWeightsFloats(shape.rows / seq, node.attributes.heads, seq),
                         static_cast<int>(b), last, &block.weights_offset});
    }
  }

  int64_t PartFloats(const Block& block) const {
    const graph::Node& node = graph_.node(block.nodes[0]);
    if (block.kind == BlockKind::kAttention || block.kind == BlockKind::kAttentionGrad) {
      const int64_t width = graph_.value(node.inputs[0]).shape.cols / 3;
      return AttentionScratchFloats(node.attributes.period, width / node.attributes.heads);
    }
    if (block.kind == BlockKind::kGemm) return 0;
    int64_t floats = Aligned(block.slot_floats * block.tile_rows) + Aligned(block.state_floats);
    if (block.product_place == Place::kPanel) {
      floats += fuse::kGemmPanelRows * graph_.value(node.outputs[0]).shape.cols;
    }
    return floats;
  }

  const Graph& graph_;
  Program& program_;
  std::vector<int> block_of_;
  std::vector<Piece> pieces_;
};

}  // namespace

void PlaceTensors(const Graph& graph, Program* program) { Placer(graph, program).Run(); }

}  // namespace blazed::cpu
