#include "kernels/cpu/executor.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/reversed_sum.h"
#include "kernels/cpu/split.h"
#include "kernels/fuse/form.h"

namespace blazed::cpu {
namespace {

using graph::Node;
using graph::OpKind;
using graph::ValueId;

const char* Name(OpKind op) { return graph::OpName(op).data(); }

std::string ShapeText(const graph::Shape& shape) {
  return absl::StrCat(shape.rows, "x", shape.cols);
}

int64_t Aligned(int64_t floats) { return (floats + 15) / 16 * 16; }

std::string PartsText(const Block& block) {
  return block.parts == 1 ? "" : absl::StrCat(" in ", block.parts, " parts");
}

}  // namespace

Executor::Executor(const graph::Graph& graph, const Program& program, const KernelTable& kernels,
                   const Fault* fault, Workers* workers)
    : graph_(graph),
      program_(program),
      kernels_(kernels),
      fault_(fault),
      workers_(workers),
      walks_(static_cast<size_t>(program.threads)) {
  weights_of_.assign(graph.nodes().size(), -1);
  for (const Block& block : program.blocks) {
    if (block.kind != BlockKind::kAttention || block.streamed) continue;
    const Node& node = graph.node(block.nodes[0]);
    weights_of_[static_cast<size_t>(block.nodes[0])] = block.weights_offset;
    for (const graph::NodeId reader : graph.readers(node.outputs[1])) {
      weights_of_[static_cast<size_t>(reader)] = block.weights_offset;
    }
  }
}

bool Executor::Allocate() {
  arena_ = Buffer(program_.arena_floats);
  scratch_ = Buffer(program_.scratch_floats);
  return arena_.size() == program_.arena_floats && scratch_.size() == program_.scratch_floats;
}

int64_t Executor::bytes() const {
  return (arena_.size() + scratch_.size()) * static_cast<int64_t>(sizeof(float));
}

float* Executor::ArenaAddress(ValueId id) {
  const int64_t offset = program_.offset[static_cast<size_t>(id)];
  return offset < 0 ? nullptr : arena_.data() + offset;
}

float* Executor::Memory(ValueId id) const {
  return static_cast<float*>(const_cast<void*>((*memory_)[static_cast<size_t>(id)]));
}

const float* Executor::Input(const Block& block, const Operand& operand, int64_t row,
                             int64_t panel_begin, float* scratch) const {
  switch (operand.place) {
    case Place::kScratch:
      return scratch + operand.slot_offset * block.tile_rows;
    case Place::kPanel:
      return scratch + Aligned(block.slot_floats * block.tile_rows) + Aligned(block.state_floats) +
             (row - panel_begin) * operand.row_floats;
    case Place::kMemory:
      break;
  }
  return Memory(operand.value) + (operand.by_row ? row * operand.row_floats : 0);
}

void Executor::RunTile(const Block& block, int64_t row, int64_t rows, int64_t panel_begin,
                       Walk* walk) {
  float* state = walk->scratch + Aligned(block.slot_floats * block.tile_rows);
  for (const TileOp& op : block.ops) {
    TileArgs args = op.constants;
    args.rows = rows;
    args.row_begin = row;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      args.in[i] = Input(block, op.inputs[i], row, panel_begin, walk->scratch);
    }
    if (op.ids_input >= 0) args.ids = reinterpret_cast<const int32_t*>(args.in[op.ids_input]);
    args.out = const_cast<float*>(Input(block, op.output, row, panel_begin, walk->scratch));
    if (op.state_offset >= 0) args.state = state + op.state_offset;
    if (op.totals_offset >= 0) args.totals = Totals(block) + op.totals_offset;
    const bool reversed = fault_ != nullptr && fault_->kind == Fault::Kind::kReorderSums;
    if (reversed && graph_.node(op.node).op == OpKind::kRowSum) {
      ReversedRowSum(args);
    } else {
      op.run(args);
    }
    if (walk->recording && walk->tiles == 0) {
      absl::StrAppend(&walk->ops, walk->ops.empty() ? "" : ",", Name(graph_.node(op.node).op), ":",
                      args.cols);
      if (op.output.place == Place::kScratch) ++walk->local;
    }
  }
  ++walk->tiles;
  walk->rows += rows;
}

void Executor::RunTiles(const Block& block, int64_t begin, int64_t end, Walk* walk) {
  const bool drop = fault_ != nullptr && fault_->kind == Fault::Kind::kDropLastTile;
  for (int64_t row = begin; row < end; row += block.tile_rows) {
    const int64_t rows = std::min(block.tile_rows, end - row);
    if (drop && row + rows == block.walk_rows) return;
    RunTile(block, row, rows, begin, walk);
  }
}

// Slabs as even as they can be, the longer shares first.
Executor::Share Executor::ShareOf(const Block& block, int part) const {
  const int64_t slabs = SlabsOf(graph_, block);
  const auto begin = [&](int64_t i) { return (slabs * i + block.parts - 1) / block.parts; };
  return {begin(part), begin(part + 1)};
}

template <class Part>
void Executor::RunParts(const Block& block, Part part) {
  if (block.parts == 1) return part(0);
  workers_->Run(block.parts, part);
}

float* Executor::Totals(const Block& block) {
  return scratch_.data() + block.parts * block.part_floats;
}

void Executor::WalkRows(const Block& block, const GemmProduct& gemm, Walk* walk) {
  if (block.gemm == graph::kNone) return RunTiles(block, walk->begin, walk->end, walk);
  const ValueId product = graph_.node(block.gemm).outputs[0];
  const Operand out = {block.product_place, product, true, graph_.value(product).shape.cols, 0};
  for (int64_t row = walk->begin; row < walk->end; row += fuse::kGemmPanelRows) {
    const int64_t rows = std::min(fuse::kGemmPanelRows, walk->end - row);
    walk->calls +=
        RunPanel(gemm, row, rows, const_cast<float*>(Input(block, out, row, row, walk->scratch)));
    RunTiles(block, row, row + rows, walk);
  }
}

// The trees over what the parts left of their column sums.
void Executor::FinishSums(const Block& block) {
  if (block.totals_floats == 0) return;
  for (const TileOp& op : block.ops) {
    if (op.totals_offset < 0) continue;
    TileArgs args = op.constants;
    args.state = scratch_.data() + Aligned(block.slot_floats * block.tile_rows) + op.state_offset;
    args.totals = Totals(block) + op.totals_offset;
    args.out = Memory(op.output.value);
    kernels_.column_sum_of_totals(args);
  }
}

void Executor::RunRows(const Block& block, DispatchRecord* record) {
  const GemmProduct gemm = block.gemm == graph::kNone ? GemmProduct{} : ProductOf(block);
  for (int part = 0; part < block.parts; ++part) {
    const Share share = ShareOf(block, part);
    Walk& walk = walks_[static_cast<size_t>(part)];
    walk = Walk();
    walk.scratch = scratch_.data() + part * block.part_floats;
    walk.begin = share.begin * kPartRows;
    walk.end = std::min(share.end * kPartRows, block.walk_rows);
    walk.recording = record != nullptr;
  }
  RunParts(block, [&](int part) { WalkRows(block, gemm, &walks_[static_cast<size_t>(part)]); });
  FinishSums(block);
  if (record != nullptr) RecordRows(block, gemm, record);
}

void Executor::RecordRows(const Block& block, const GemmProduct& gemm,
                          DispatchRecord* record) const {
  Walk all = walks_[0];
  for (int part = 1; part < block.parts; ++part) {
    const Walk& walk = walks_[static_cast<size_t>(part)];
    all.rows += walk.rows;
    all.tiles += walk.tiles;
    all.calls += walk.calls;
  }
  std::string product;
  if (block.gemm != graph::kNone) {
    product = absl::StrCat(" inside ", Name(gemm.op), " ", GemmCallName(block.call), " ",
                           gemm.left_cols, " calls ", all.calls,
                           block.product_place == Place::kPanel ? " panel" : " kept");
  }
  record->Add(absl::StrCat("rows ", all.rows, " of ", block.walk_rows, PartsText(block), " tile ",
                           block.tile_rows, " tiles ", all.tiles, " local ", all.local, product,
                           " ops ", all.ops));
}

GemmProduct Executor::ProductOf(const Block& block) const {
  const Node& node = graph_.node(block.gemm);
  const graph::Shape left = graph_.value(node.inputs[0]).shape;
  const graph::Shape right = graph_.value(node.inputs[1]).shape;
  GemmProduct product;
  product.op = node.op;
  product.call = block.call;
  product.left = Memory(node.inputs[0]);
  product.right = Memory(node.inputs[1]);
  product.rows = left.rows;
  product.left_cols = left.cols;
  product.right_rows = right.rows;
  product.right_cols = right.cols;
  return product;
}

void Executor::RunProduct(const Block& block, DispatchRecord* record) {
  GemmProduct product = ProductOf(block);
  product.out = Memory(graph_.node(block.gemm).outputs[0]);
  int64_t calls = 0;
  if (block.parts == 1) {
    calls = RunGemm(product);
  } else {
    RunParts(block, [&](int part) {
      const Share share = ShareOf(block, part);
      Walk& walk = walks_[static_cast<size_t>(part)];
      walk.calls = RunRowsOfGemm(product, share.begin * kPartRows,
                                 std::min(share.end * kPartRows, product.rows));
    });
    for (int part = 0; part < block.parts; ++part) calls += walks_[static_cast<size_t>(part)].calls;
  }
  if (record == nullptr) return;
  record->Add(absl::StrCat(Name(product.op), " ", GemmCallName(block.call), " ", product.rows, "x",
                           product.left_cols, " by ", product.right_rows, "x", product.right_cols,
                           PartsText(block), " calls ", calls));
}

void Executor::RunAttention(const Block& block, DispatchRecord* record) {
  const Node& node = graph_.node(block.nodes[0]);
  const bool backward = block.kind == BlockKind::kAttentionGrad;
  const graph::Shape shape = graph_.value(node.inputs[0]).shape;
  const int64_t weights = weights_of_[static_cast<size_t>(block.nodes[0])];
  AttentionArgs args;
  args.qkv = Memory(node.inputs[0]);
  args.out = Memory(backward ? node.inputs[1] : node.outputs[0]);
  args.statistics = Memory(backward ? node.inputs[2] : node.outputs[1]);
  args.seq = node.attributes.period;
  args.batch = shape.rows / args.seq;
  args.heads = node.attributes.heads;
  args.dim = shape.cols / 3 / args.heads;
  args.weights = weights < 0 ? nullptr : arena_.data() + weights;
  if (backward) {
    args.d_out = Memory(node.inputs[3]);
    args.d_qkv = Memory(node.outputs[0]);
  }
  const bool streamed = args.weights == nullptr;
  const AttentionFn run =
      backward
          ? (streamed ? kernels_.attention_grad_streamed : kernels_.attention_grad_materialised)
          : (streamed ? kernels_.attention_streamed : kernels_.attention_materialised);
  RunParts(block, [&](int part) {
    const Share share = ShareOf(block, part);
    AttentionArgs own = args;
    own.first = share.begin;
    own.last = share.end;
    own.scratch = scratch_.data() + part * block.part_floats;
    run(own);
  });
  if (record == nullptr) return;
  record->Add(absl::StrCat(Name(node.op), streamed ? " streamed " : " materialised ",
                           ShapeText(shape), " heads ", args.heads, " seq ", args.seq,
                           PartsText(block)));
}

void Executor::Spoil(const Block& block) {
  for (const graph::Exposed& exposed : graph_.exposed()) {
    const graph::NodeId producer = graph_.value(exposed.value).producer;
    const bool here =
        std::find(block.nodes.begin(), block.nodes.end(), producer) != block.nodes.end();
    if (here) Memory(exposed.value)[0] = std::numeric_limits<float>::quiet_NaN();
  }
}

void Executor::Run(const std::vector<const void*>& memory, DispatchRecord* record) {
  memory_ = &memory;
  if (record != nullptr) {
    record->Clear();
    record->Add(absl::StrCat(GemmLibrary(), " kernels v", kernels_.level));
  }
  for (const Block& block : program_.blocks) {
    switch (block.kind) {
      case BlockKind::kRows:
        RunRows(block, record);
        break;
      case BlockKind::kGemm:
        RunProduct(block, record);
        break;
      case BlockKind::kAttention:
      case BlockKind::kAttentionGrad:
        RunAttention(block, record);
        break;
    }
    if (fault_ != nullptr && fault_->kind == Fault::Kind::kNan) Spoil(block);
  }
  memory_ = nullptr;
}

}  // namespace blazed::cpu
