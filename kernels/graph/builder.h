#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/graph/graph.h"

namespace blazed::graph {

// Appends values and nodes in program order and checks shapes. The first error is kept and every
// later call returns kNone, so a caller builds straight on and looks once, at Finish().
class GraphBuilder {
 public:
  explicit GraphBuilder(Regime regime);

  ValueId Input(std::string name, Shape shape);
  // Ids in [0, id_limit), one a row.
  ValueId InputIds(std::string name, int64_t rows, int32_t id_limit);
  ValueId Parameter(std::string name, Shape shape, Initial initial);
  ValueId State(std::string name, Shape shape, Initial initial);

  // Nodes appended from here on belong to `phase`; phases only go forward.
  void SetPhase(Phase phase);

  // Nodes appended from here on lie at `place`, a path in the model; empty: nowhere in particular.
  void At(std::string place);

  // Any operation of op.h with one output; the shape follows from the inputs. `rows` and `cols` are
  // needed by kFill, kSpreadRow (rows), kSpreadColumn (cols) and kScatterAdd (rows of the table).
  ValueId Apply(OpKind op, std::vector<ValueId> inputs, Attributes attributes = {},
                Shape wanted = {});

  ValueId Unary(OpKind op, ValueId x, float alpha = 0.0f) {
    return Apply(op, {x}, {.alpha = alpha});
  }
  ValueId Binary(OpKind op, ValueId x, ValueId y) { return Apply(op, {x, y}); }
  ValueId RowSum(ValueId x, float alpha) { return Unary(OpKind::kRowSum, x, alpha); }
  ValueId ColumnSum(ValueId x, float alpha) { return Unary(OpKind::kColumnSum, x, alpha); }
  ValueId Gemm(ValueId x, ValueId w) { return Apply(OpKind::kGemm, {x, w}); }

  struct AttentionResult {
    ValueId out = kNone;
    ValueId statistics = kNone;
  };
  AttentionResult Attention(ValueId qkv, int32_t heads, int32_t seq);

  // Rows scaled by the inverse root mean square after the mean is taken off, then gain and bias.
  ValueId LayerNorm(ValueId x, ValueId gain, ValueId bias, float epsilon);
  // Mean cross-entropy of `logits` against class ids, at "loss".
  ValueId CrossEntropy(ValueId logits, ValueId targets);
  // Mean over rows and columns of (x - target)^2, at "loss".
  ValueId MeanSquaredError(ValueId x, ValueId target);

  // `value`, made last, takes over the memory of `target` (a parameter or state): the optimiser's
  // write. No node after the producer may read `target`.
  void Store(ValueId value, ValueId target);
  void Expose(ValueId value, Role role, std::string name);
  // The scalar that training lowers; also exposed, as "loss".
  void SetLoss(ValueId loss);

  const Graph& graph() const { return graph_; }
  bool ok() const { return error_.empty(); }

  // The finished graph, or nothing and a sentence in `error`.
  std::optional<Graph> Finish(std::string* error);

 private:
  ValueId AddValue(Value value);
  void Fail(std::string sentence);
  bool CheckStores();

  Graph graph_;
  Phase phase_ = Phase::kForward;
  std::string place_;
  std::string error_;
};

}  // namespace blazed::graph
