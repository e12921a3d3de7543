#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu/buffer.h"
#include "kernels/cpu/dispatch_record.h"
#include "kernels/cpu/fault.h"
#include "kernels/cpu/program.h"
#include "kernels/cpu/workers.h"

namespace blazed::cpu {

// Runs a lowered program's blocks in order, parts of a block side by side where it has any.
class Executor {
 public:
  // Keeps references to all; `memory` (by value id) holds the address of every tensor that is not
  // local to a block. `fault` may be null, and `workers` where no block has parts.
  Executor(const graph::Graph& graph, const Program& program, const KernelTable& kernels,
           const Fault* fault, Workers* workers);

  // Scratch and arena, allocated once. False without memory.
  bool Allocate();
  int64_t bytes() const;

  // Address of a computed tensor in the arena, or null where it never reaches memory.
  float* ArenaAddress(graph::ValueId id);

  // Runs all blocks. With a record, writes what was run into it, one line a block.
  void Run(const std::vector<const void*>& memory, DispatchRecord* record);

 private:
  // One part's way over its rows, and what it did so far: that becomes its share of the line in the
  // record.
  struct Walk {
    float* scratch = nullptr;  // of the part
    int64_t begin = 0, end = 0;
    bool recording = false;
    std::string ops;  // of the first tile
    int64_t tiles = 0;
    int64_t rows = 0;
    int64_t calls = 0;
    int64_t local = 0;
  };

  // Slabs [begin, end) of a part, in slabs of SlabsOf.
  struct Share {
    int64_t begin = 0, end = 0;
  };
  Share ShareOf(const Block& block, int part) const;
  template <class Part>
  void RunParts(const Block& block, Part part);

  void RunRows(const Block& block, DispatchRecord* record);
  void WalkRows(const Block& block, const GemmProduct& gemm, Walk* walk);
  void RunTiles(const Block& block, int64_t begin, int64_t end, Walk* walk);
  void RunTile(const Block& block, int64_t row, int64_t rows, int64_t panel_begin, Walk* walk);
  void FinishSums(const Block& block);
  void RecordRows(const Block& block, const GemmProduct& gemm, DispatchRecord* record) const;
  void RunProduct(const Block& block, DispatchRecord* record);
  void RunAttention(const Block& block, DispatchRecord* record);
  GemmProduct ProductOf(const Block& block) const;
  const float* Input(const Block& block, const Operand& operand, int64_t row, int64_t panel_begin,
                     float* scratch) const;
  float* Totals(const Block& block);
  float* Memory(graph::ValueId id) const;
  void Spoil(const Block& block);

  const graph::Graph& graph_;
  const Program& program_;
  const KernelTable& kernels_;
  const Fault* fault_;
  Workers* const workers_;
  const std::vector<const void*>* memory_ = nullptr;
  std::vector<Walk> walks_;  // by part; here so that a step allocates nothing
  Buffer arena_;
  Buffer scratch_;
  std::vector<int64_t> weights_of_;  // by node: arena offset of materialised attention weights
};

}  // namespace blazed::cpu
