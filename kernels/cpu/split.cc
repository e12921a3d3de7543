#include "kernels/cpu/split.h"

#include <algorithm>

#include "kernels/fuse/form.h"
#include "kernels/fuse/legality.h"

namespace blazed::cpu {
namespace {

using graph::Node;
using graph::OpKind;

static_assert(kPartRows % fuse::kGemmPanelRows == 0 && kPartRows % kColumnChunkRows == 0);

constexpr int64_t kVector = 16;
// Multiply-adds of a product that take as long as one vector through an operation.
constexpr int64_t kProductsAVector = 128;

// A sum over rows other than by chains lies in no order but that of its rows.
bool SplitsByRow(const Node& node) {
  return fuse::WritesByRow(node) || node.op == OpKind::kColumnSum;
}

int64_t VectorsOfProduct(const graph::Graph& graph, const Node& node) {
  const graph::Shape left = graph.value(node.inputs[0]).shape;
  return left.rows * left.cols * graph.value(node.outputs[0]).shape.cols / kProductsAVector;
}

int64_t VectorsOf(const graph::Graph& graph, const Block& block) {
  int64_t vectors =
      block.gemm == graph::kNone ? 0 : VectorsOfProduct(graph, graph.node(block.gemm));
  for (const TileOp& op : block.ops) vectors += block.walk_rows * op.constants.cols / kVector;
  return vectors;
}

bool Divisible(const graph::Graph& graph, const Block& block) {
  switch (block.kind) {
    case BlockKind::kRows:
      return std::all_of(block.ops.begin(), block.ops.end(),
                         [&graph](const TileOp& op) { return SplitsByRow(graph.node(op.node)); });
    case BlockKind::kGemm:
      return graph.node(block.gemm).op != OpKind::kGemmTN && block.call != GemmCall::kWhole;
    case BlockKind::kAttention:
    case BlockKind::kAttentionGrad:
      return true;
  }
  return false;
}

// A head is always worth a part of its own.
int64_t PartsWorth(const graph::Graph& graph, const BuildOptions& options, const Block& block) {
  const bool attention =
      block.kind == BlockKind::kAttention || block.kind == BlockKind::kAttentionGrad;
  return attention ? SlabsOf(graph, block) : VectorsOf(graph, block) / options.part_vectors;
}

}  // namespace

int64_t SlabsOf(const graph::Graph& graph, const Block& block) {
  const Node& node = graph.node(block.nodes[0]);
  const int64_t rows =
      graph.value(node.inputs.empty() ? node.outputs[0] : node.inputs[0]).shape.rows;
  switch (block.kind) {
    case BlockKind::kRows:
      return (block.walk_rows + kPartRows - 1) / kPartRows;
    case BlockKind::kGemm:
      return (rows + kPartRows - 1) / kPartRows;
    default:
      return rows / node.attributes.period * node.attributes.heads;
  }
}

void SplitBlock(const graph::Graph& graph, const BuildOptions& options, int threads, Block* block) {
  if (threads <= 1 || !Divisible(graph, *block)) return;
  const int64_t most = std::min(SlabsOf(graph, *block), PartsWorth(graph, options, *block));
  block->parts = static_cast<int>(std::clamp<int64_t>(most, 1, threads));
  if (block->parts == 1) return;
  for (TileOp& op : block->ops) {
    if (graph.node(op.node).op != OpKind::kColumnSum) continue;
    op.totals_offset = block->totals_floats;
    block->totals_floats += SlabsOf(graph, *block) * op.constants.cols;
  }
}

}  // namespace blazed::cpu
