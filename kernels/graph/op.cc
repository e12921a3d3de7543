#include "kernels/graph/op.h"

#include <array>

namespace blazed::graph {
namespace {

struct OpFacts {
  std::string_view name;
  OpForm form;
  bool elementwise;
};

constexpr OpFacts kFlat(std::string_view name) { return {name, OpForm::kRowWise, true}; }
constexpr OpFacts kRows(std::string_view name) { return {name, OpForm::kRowWise, false}; }
constexpr OpFacts kReduce(std::string_view name) { return {name, OpForm::kReduction, false}; }

// In the order of OpKind.
constexpr std::array<OpFacts, kOpKindCount> kFacts = {{
    kFlat("scale"),
    kFlat("add_constant"),
    kFlat("exp"),
    kFlat("tanh"),
    kFlat("sigmoid"),
    kFlat("relu"),
    kFlat("gelu"),
    kFlat("square"),
    kFlat("sqrt_add"),
    kFlat("inverse_sqrt"),
    kFlat("fill"),
    kFlat("add"),
    kFlat("subtract"),
    kFlat("multiply"),
    kFlat("divide"),
    kFlat("tanh_grad"),
    kFlat("sigmoid_grad"),
    kFlat("relu_grad"),
    kFlat("gelu_grad"),
    kFlat("inverse_sqrt_grad"),
    kFlat("mix"),
    kFlat("mix_square"),
    kFlat("step_down"),
    kFlat("step_down_by"),
    kFlat("adam_rate"),
    kRows("add_row"),
    kRows("multiply_row"),
    kRows("add_column"),
    kRows("subtract_column"),
    kRows("multiply_column"),
    kRows("exp_subtract_column"),
    kRows("spread_row"),
    kRows("spread_column"),
    kRows("add_tiled"),
    kRows("row_sum"),
    kRows("row_max"),
    kReduce("column_sum"),
    kReduce("tiled_sum"),
    kReduce("scatter_add"),
    kRows("gather"),
    kRows("cross_entropy"),
    kRows("cross_entropy_grad"),
    {"gemm", OpForm::kContraction, false},
    {"gemm_nt", OpForm::kContraction, false},
    {"gemm_tn", OpForm::kContraction, false},
    {"attention", OpForm::kAttention, false},
    {"attention_grad", OpForm::kAttention, false},
}};

const OpFacts& Facts(OpKind op) { return kFacts[static_cast<size_t>(op)]; }

}  // namespace

std::string_view OpName(OpKind op) { return Facts(op).name; }
OpForm FormOf(OpKind op) { return Facts(op).form; }
bool IsElementwise(OpKind op) { return Facts(op).elementwise; }

}  // namespace blazed::graph
