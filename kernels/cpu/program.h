#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/isa/table.h"
#include "kernels/graph/graph.h"

namespace blazed::cpu {

// Where a tensor of a block lives while the block runs.
enum class Place : uint8_t {
  kMemory,   // a whole tensor, at the address bound to its value
  kScratch,  // only the tile's rows, in a slot of the block's scratch
  kPanel,    // only the panel's rows: a product that nobody outside the block reads
};

struct Operand {
  Place place = Place::kMemory;
  graph::ValueId value = graph::kNone;
  bool by_row = true;       // else the operand is needed whole, from its start
  int64_t row_floats = 0;   // floats a row
  int64_t slot_offset = 0;  // kScratch: floats a row before this slot; times the tile's rows
};

// One operation of a merged block.
struct TileOp {
  graph::NodeId node = graph::kNone;
  TileFn run = nullptr;
  TileArgs constants;  // everything but pointers, rows and row_begin
  std::vector<Operand> inputs;
  int ids_input = -1;  // index of the i32 input, or -1
  Operand output;
  int64_t state_offset = -1;   // kColumnSum: place in the part's state
  int64_t totals_offset = -1;  // kColumnSum of a divided block: place among the block's totals
};

enum class BlockKind : uint8_t { kRows, kGemm, kAttention, kAttentionGrad };

// One pass over memory.
struct Block {
  BlockKind kind = BlockKind::kRows;
  std::vector<graph::NodeId> nodes;  // in program order; with a GEMM inside it comes first
  int parts = 1;                     // threads that share its rows or heads
  int64_t part_floats = 0;           // scratch of each

  // kRows
  int64_t walk_rows = 0;
  int64_t tile_rows = 0;
  std::vector<TileOp> ops;
  int64_t slot_floats = 0;    // scratch floats a row
  int64_t state_floats = 0;   // of column sums
  int64_t totals_floats = 0;  // of column sums in a divided block, behind the parts' scratch

  // kGemm, and kRows with the product inside
  graph::NodeId gemm = graph::kNone;
  GemmCall call = GemmCall::kPanels;
  Place product_place = Place::kMemory;

  // kAttention, kAttentionGrad
  bool streamed = false;
  int64_t weights_offset = -1;  // materialised: place in the arena
};

// A plan lowered: blocks in order, and where every computed tensor lives.
struct Program {
  std::vector<Block> blocks;
  std::vector<int64_t> offset;  // by value: floats into the arena, or -1
  int64_t arena_floats = 0;
  int64_t scratch_floats = 0;  // the largest block's scratch, panel and state, of all its parts
  int threads = 1;
};

}  // namespace blazed::cpu
