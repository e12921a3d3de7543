#include "kernels/cpu/lower.h"

#include "kernels/cpu/block_forming.h"
#include "kernels/cpu/memory_plan.h"
#include "kernels/cpu/split.h"
#include "kernels/cpu/tile_layout.h"
#include "kernels/fuse/threads.h"

namespace blazed::cpu {

Program Lower(const graph::Graph& graph, const fuse::DecisionSpace& space, const fuse::Plan& plan,
              const BuildOptions& options, const KernelTable& kernels) {
  Program program;
  program.blocks = FormBlocks(graph, space, plan, options);
  program.threads = fuse::ThreadsOf(space, plan);
  for (Block& block : program.blocks) {
    if (block.kind == BlockKind::kRows) LayOutTiles(graph, options, kernels, &block);
    SplitBlock(graph, options, program.threads, &block);
  }
  PlaceTensors(graph, &program);
  return program;
}

}  // namespace blazed::cpu
