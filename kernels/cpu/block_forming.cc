#include "kernels/cpu/block_forming.h"

#include "kernels/cpu/tile_layout.h"
#include "kernels/fuse/legality.h"

namespace blazed::cpu {
namespace {

using graph::Graph;
using graph::NodeId;

// The plan's options spread over the nodes.
struct NodeOptions {
  std::vector<bool> merge;   // with the node before
  std::vector<bool> inside;  // GEMM: run the following block on its panels
  std::vector<bool> streamed;
  std::vector<GemmCall> call;
};

GemmCall CallOf(const fuse::Option& option) {
  if (option.name == "whole") return GemmCall::kWhole;
  return option.name == "split_k" ? GemmCall::kSplitK : GemmCall::kPanels;
}

NodeOptions Spread(const Graph& graph, const fuse::DecisionSpace& space, const fuse::Plan& plan) {
  const size_t count = graph.nodes().size();
  NodeOptions o{std::vector<bool>(count), std::vector<bool>(count), std::vector<bool>(count),
                std::vector<GemmCall>(count, GemmCall::kPanels)};
  for (size_t d = 0; d < space.decisions.size(); ++d) {
    const fuse::Decision& decision = space.decisions[d];
    const int option = fuse::OptionOf(plan, static_cast<int>(d));
    for (const NodeId site : decision.sites) {
      const auto at = static_cast<size_t>(site);
      switch (decision.topic) {
        case fuse::Topic::kMerge:
          o.merge[at] = option == 0;
          break;
        case fuse::Topic::kAttention:
          o.streamed[at] = option == 1;
          break;
        case fuse::Topic::kEpilogue:
          o.inside[at] = option == 1;
          break;
        case fuse::Topic::kGemmCall:
          o.call[at] = CallOf(decision.options[static_cast<size_t>(option)]);
          break;
        case fuse::Topic::kThreads:
          break;  // the whole step's: it has no sites
      }
    }
  }
  return o;
}

BlockKind KindOf(graph::OpKind op) {
  switch (op) {
    case graph::OpKind::kAttention:
      return BlockKind::kAttention;
    case graph::OpKind::kAttentionGrad:
      return BlockKind::kAttentionGrad;
    default:
      return graph::FormOf(op) == graph::OpForm::kContraction ? BlockKind::kGemm : BlockKind::kRows;
  }
}

class Former {
 public:
  Former(const Graph& graph, NodeOptions options, int64_t cap_floats)
      : graph_(graph), options_(std::move(options)), cap_floats_(cap_floats) {}

  std::vector<Block> Form() {
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes().size()); ++id) Place(id);
    return std::move(blocks_);
  }

 private:
  void Place(NodeId id) {
    if (!blocks_.empty() && (Merges(id) || EntersProduct(id))) {
      blocks_.back().nodes.push_back(id);
      return;
    }
    Block block;
    block.kind = KindOf(graph_.node(id).op);
    block.nodes = {id};
    block.streamed = options_.streamed[static_cast<size_t>(id)];
    if (block.kind == BlockKind::kGemm) {
      block.gemm = id;
      block.call = options_.call[static_cast<size_t>(id)];
    }
    blocks_.push_back(std::move(block));
  }

  bool Fits(NodeId id) const {
    std::vector<NodeId> nodes = blocks_.back().nodes;
    nodes.push_back(id);
    return SlotFloatsPerRow(graph_, nodes) <= cap_floats_;
  }

  bool Merges(NodeId id) const {
    const Block& block = blocks_.back();
    if (!options_.merge[static_cast<size_t>(id)] || block.kind != BlockKind::kRows) return false;
    std::vector<NodeId> tiled = block.nodes;
    if (block.gemm != graph::kNone) {
      if (!fuse::WhyUnsafeInside(graph_, block.gemm, id).empty()) return false;
      tiled.erase(tiled.begin());
    }
    return fuse::WhyUnsafe(graph_, tiled, id).empty() && Fits(id);
  }

  // The first operation after a GEMM whose epilogue runs inside turns its block into a walk over
  // panels.
  bool EntersProduct(NodeId id) {
    Block& block = blocks_.back();
    if (block.kind != BlockKind::kGemm || block.call == GemmCall::kWhole) return false;
    if (!options_.inside[static_cast<size_t>(block.gemm)]) return false;
    if (!fuse::WhyNoEpilogue(graph_, block.gemm, id).empty()) return false;
    block.kind = BlockKind::kRows;
    return true;
  }

  const Graph& graph_;
  const NodeOptions options_;
  const int64_t cap_floats_;
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<Block> FormBlocks(const Graph& graph, const fuse::DecisionSpace& space,
                              const fuse::Plan& plan, const BuildOptions& options) {
  const int64_t cap_floats = options.scratch_cap_bytes / static_cast<int64_t>(sizeof(float));
  return Former(graph, Spread(graph, space, plan), cap_floats).Form();
}

}  // namespace blazed::cpu
