#pragma once

#include <cstdint>
#include <string_view>

namespace blazed::graph {

// The closed set of operations. X, Y are [R, C]; v is [1, C]; c is [R, 1]; s is [1, 1]; t are i32
// ids [R, 1]. `a`, `b` are Attributes::alpha and Attributes::beta. The arithmetic of each is
// written once, in kernels/cpu/isa, and is the same at every place the plan may put it.
enum class OpKind : uint8_t {
  // Elementwise, one input.
  kScale,        // a*X
  kAddConstant,  // X + a
  kExp,
  kTanh,
  kSigmoid,
  kRelu,
  kGelu,  // tanh form
  kSquare,
  kSqrtAdd,      // sqrt(X) + a
  kInverseSqrt,  // 1 / sqrt(X + a)
  kFill,         // a everywhere; no input
  // Elementwise, two inputs of one shape.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kTanhGrad,         // Y = tanh, dY      -> dY*(1 - Y*Y)
  kSigmoidGrad,      // Y = sigmoid, dY   -> dY*Y*(1 - Y)
  kReluGrad,         // X, dY             -> X > 0 ? dY : 0
  kGeluGrad,         // X, dY
  kInverseSqrtGrad,  // Y = 1/sqrt, dY    -> -dY*Y*Y*Y/2
  kMix,              // a*X + b*Y
  kMixSquare,        // a*X + b*Y*Y
  kStepDown,         // X - a*Y           (SGD)
  kStepDownBy,       // X - s*Y           (Adam; inputs X, Y, s)
  kAdamRate,         // beta powers p1, p2 [1,1] -> a*sqrt(1-p2)/(1-p1)
  // A row vector or one number a row spread over a matrix.
  kAddRow,             // X + v
  kMultiplyRow,        // X * v
  kAddColumn,          // X + c
  kSubtractColumn,     // X - c
  kMultiplyColumn,     // X * c
  kExpSubtractColumn,  // exp(X - c)
  kSpreadRow,          // a*v for every row;    v -> [R, C]
  kSpreadColumn,       // a*c for every column; c -> [R, C]
  kAddTiled,           // X + P[r mod T], P is [T, C]
  // Row reductions, canonical order: 64-column segments, 16 lanes, tree, segments ascending.
  kRowSum,  // a * sum
  kRowMax,
  // Column reductions: finished only after the last row.
  kColumnSum,   // a * sum; 64-row chunks ascending, chunk totals by a balanced tree
  kTiledSum,    // [R, C] -> [T, C], rows r mod T ascending
  kScatterAdd,  // t, dY -> [V, C], rows ascending
  // Embedding and loss.
  kGather,            // table [V, C], t -> [R, C]
  kCrossEntropy,      // logits, row max, exp, row sum, t -> [R, 1]
  kCrossEntropyGrad,  // exp, row sum, t, dloss [R, 1] -> [R, C]
  // Contractions, from the BLAS library.
  kGemm,    // X[M,K] * W[K,N]
  kGemmNT,  // dY[M,N] * W[K,N]^T
  kGemmTN,  // X[M,K]^T * dY[M,N]; fixed row segments, ascending
  // Causal self-attention over qkv [B*T, 3*H*D]; outputs o [B*T, H*D] and row statistics [B*T,
  // 2*H].
  kAttention,
  kAttentionGrad,  // qkv, o, statistics, do -> dqkv
};
inline constexpr int kOpKindCount = static_cast<int>(OpKind::kAttentionGrad) + 1;

// How an operation may be laid out over tiles of rows; the legality of a merge follows from it.
enum class OpForm : uint8_t {
  kRowWise,      // row r of the output needs row r of the [R, .] inputs only
  kReduction,    // consumes rows in ascending order, its result is ready after the last one
  kContraction,  // a library GEMM
  kAttention,    // works on whole sequences
};

// Stable lower-case name: part of the fingerprint, of decision ids and of signatures.
std::string_view OpName(OpKind op);
OpForm FormOf(OpKind op);

// True for operations that work element by element on equally shaped operands, so that the output
// may take over the memory of a dying input.
bool IsElementwise(OpKind op);

}  // namespace blazed::graph
