#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/buffer.h"
#include "kernels/cpu/dispatch_record.h"
#include "kernels/cpu/fault.h"
#include "kernels/cpu/program.h"

namespace blazed::cpu {

// Runs a lowered program's blocks in order on one thread.
class Executor {
 public:
  // Keeps references to all four; `memory` (by value id) holds the address of every tensor that is
  // not local to a block. `fault` may be null.
  Executor(const graph::Graph& graph, const Program& program, const KernelTable& kernels,
           const Fault* fault);

  // Scratch and arena, allocated once. False without memory.
  bool Allocate();
  int64_t bytes() const;

  // Address of a computed tensor in the arena, or null where it never reaches memory.
  float* ArenaAddress(graph::ValueId id);

  // Runs all blocks. With a record, writes what was run into it, one line a block.
  void Run(const std::vector<const void*>& memory, DispatchRecord* record);

 private:
  struct Walk;
  void RunRows(const Block& block, DispatchRecord* record);
  void RunTiles(const Block& block, int64_t begin, int64_t end, Walk* walk);
  void RunTile(const Block& block, int64_t row, int64_t rows, int64_t panel_begin, Walk* walk);
  void RunProduct(const Block& block, DispatchRecord* record);
  void RunAttention(const Block& block, DispatchRecord* record);
  GemmProduct ProductOf(const Block& block) const;
  const float* Input(const Block& block, const Operand& operand, int64_t row,
                     int64_t panel_begin) const;
  float* Memory(graph::ValueId id) const;
  void Spoil(const Block& block);

  const graph::Graph& graph_;
  const Program& program_;
  const KernelTable& kernels_;
  const Fault* fault_;
  const std::vector<const void*>* memory_ = nullptr;
  Buffer arena_;
  Buffer scratch_;
  std::vector<int64_t> weights_of_;  // by node: arena offset of materialised attention weights
};

}  // namespace blazed::cpu
