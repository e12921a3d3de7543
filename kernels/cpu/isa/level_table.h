// Builds this translation unit's KernelTable. Included by level1.cc, level3.cc and level4.cc, each
// compiled for its own instruction set.
#pragma once

#include "kernels/cpu/isa/attention.h"
#include "kernels/cpu/isa/attention_grad.h"
#include "kernels/cpu/isa/flat_ops.h"
#include "kernels/cpu/isa/reduce_ops.h"
#include "kernels/cpu/isa/table.h"

namespace blazed::cpu::BLAZED_ISA {

// clang-format off
inline TileFn TileOf(graph::OpKind op) {
  using graph::OpKind;
  switch (op) {
    case OpKind::kScale: return Scale;
    case OpKind::kAddConstant: return AddConstant;
    case OpKind::kExp: return Exp;
    case OpKind::kTanh: return Tanh;
    case OpKind::kSigmoid: return Sigmoid;
    case OpKind::kRelu: return Relu;
    case OpKind::kGelu: return Gelu;
    case OpKind::kSquare: return Square;
    case OpKind::kSqrtAdd: return SqrtAdd;
    case OpKind::kInverseSqrt: return InverseSqrt;
    case OpKind::kFill: return Fill;
    case OpKind::kAdd: return Add;
    case OpKind::kSubtract: return Subtract;
    case OpKind::kMultiply: return Multiply;
    case OpKind::kDivide: return Divide;
    case OpKind::kTanhGrad: return TanhGrad;
    case OpKind::kSigmoidGrad: return SigmoidGrad;
    case OpKind::kReluGrad: return ReluGrad;
    case OpKind::kGeluGrad: return GeluGrad;
    case OpKind::kInverseSqrtGrad: return InverseSqrtGrad;
    case OpKind::kMix: return Mix;
    case OpKind::kMixSquare: return MixSquare;
    case OpKind::kStepDown: return StepDown;
    case OpKind::kStepDownBy: return StepDownBy;
    case OpKind::kAdamRate: return AdamRate;
    case OpKind::kAddRow: return AddRow;
    case OpKind::kMultiplyRow: return MultiplyRow;
    case OpKind::kAddColumn: return AddColumn;
    case OpKind::kSubtractColumn: return SubtractColumn;
    case OpKind::kMultiplyColumn: return MultiplyColumn;
    case OpKind::kExpSubtractColumn: return ExpSubtractColumn;
    case OpKind::kSpreadRow: return SpreadRow;
    case OpKind::kSpreadColumn: return SpreadColumn;
    case OpKind::kAddTiled: return AddTiled;
    case OpKind::kRowSum: return RowSum;
    case OpKind::kRowMax: return RowMax;
    case OpKind::kColumnSum: return ColumnSum;
    case OpKind::kTiledSum: return TiledSum;
    case OpKind::kScatterAdd: return ScatterAdd;
    case OpKind::kGather: return Gather;
    case OpKind::kCrossEntropy: return CrossEntropy;
    case OpKind::kCrossEntropyGrad: return CrossEntropyGrad;
    case OpKind::kGemm:
    case OpKind::kGemmNT:
    case OpKind::kGemmTN:
    case OpKind::kAttention:
    case OpKind::kAttentionGrad: return nullptr;
  }
  return nullptr;
}
// clang-format on

inline KernelTable MakeTable(int level) {
  KernelTable table;
  table.level = level;
  for (int op = 0; op < graph::kOpKindCount; ++op) {
    table.tile[static_cast<size_t>(op)] = TileOf(static_cast<graph::OpKind>(op));
  }
  table.column_sum_of_totals = ColumnSumOfTotals;
  table.attention_materialised = AttentionMaterialised;
  table.attention_streamed = AttentionStreamed;
  table.attention_grad_materialised = AttentionGradMaterialised;
  table.attention_grad_streamed = AttentionGradStreamed;
  return table;
}

}  // namespace blazed::cpu::BLAZED_ISA
