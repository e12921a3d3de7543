#include "kernels/graph/autodiff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/unit/kernels/support/plans.h"
#include "tests/unit/kernels/support/reference.h"

namespace blazed::graph {
namespace {

using testing::MakeRig;
using testing::Reference;
using testing::Rig;

// Compares every parameter's gradient, as the graph computes it in double, with central differences
// of the loss, and the executor's f32 gradient with that.
void CheckGradients(GraphBuilder builder, ValueId loss, uint64_t seed) {
  builder.SetLoss(loss);
  const Gradients gradients = AppendBackward(&builder, loss);
  ASSERT_TRUE(builder.ok());
  ASSERT_FALSE(gradients.empty());
  Rig rig = MakeRig(std::move(builder), seed);
  Reference exact(*rig.graph, *rig.model, *rig.inputs);
  exact.Run();
  const auto probe = rig.Build({})->RunProbe(*rig.inputs);
  constexpr double kStep = 1e-5;
  for (const auto& [parameter, gradient] : gradients) {
    const std::string name = rig.graph->value(parameter).name;
    const auto& f32 = testing::Find(probe, name, Role::kGradient).f32;
    for (size_t i = 0; i < exact[gradient].size(); ++i) {
      double side[2];
      for (int s = 0; s < 2; ++s) {
        Reference moved(*rig.graph, *rig.model, *rig.inputs);
        moved.value(parameter)[i] += s == 0 ? kStep : -kStep;
        moved.Run();
        side[s] = moved[loss][0];
      }
      const double slope = (side[0] - side[1]) / (2.0 * kStep);
      EXPECT_NEAR(exact[gradient][i], slope, 1e-7 + 1e-5 * std::fabs(slope)) << name << " " << i;
      EXPECT_NEAR(f32[i], exact[gradient][i], 2e-6 + 2e-4 * std::fabs(slope)) << name << " " << i;
    }
  }
}

constexpr Initial kSpread = {Initial::Kind::kNormal, 0.7f};

// loss = mean((f(p) - target)^2) with a parameter the shape of the input.
void CheckUnary(OpKind op, const std::function<ValueId(GraphBuilder*, ValueId)>& before) {
  GraphBuilder b(Regime::kTraining);
  const ValueId p = b.Parameter("p", {3, 5}, kSpread);
  const ValueId target = b.Input("target", {3, 5});
  const ValueId y = b.Unary(op, before(&b, p), 0.6f);
  CheckGradients(b, b.MeanSquaredError(y, target), 7);
}

TEST(Autodiff, MatchesCentralDifferencesForUnaryOperations) {
  const auto same = [](GraphBuilder*, ValueId p) { return p; };
  for (const OpKind op : {OpKind::kScale, OpKind::kAddConstant, OpKind::kExp, OpKind::kTanh,
                          OpKind::kSigmoid, OpKind::kRelu, OpKind::kGelu, OpKind::kSquare}) {
    SCOPED_TRACE(OpName(op));
    CheckUnary(op, same);
  }
  CheckUnary(OpKind::kInverseSqrt,
             [](GraphBuilder* b, ValueId p) { return b->Unary(OpKind::kSquare, p); });
}

TEST(Autodiff, MatchesCentralDifferencesForBinaryOperations) {
  for (const OpKind op : {OpKind::kAdd, OpKind::kSubtract, OpKind::kMultiply, OpKind::kDivide}) {
    SCOPED_TRACE(OpName(op));
    GraphBuilder b(Regime::kTraining);
    const ValueId p = b.Parameter("p", {4, 3}, kSpread);
    const ValueId q = b.Parameter("q", {4, 3}, {Initial::Kind::kConstant, 1.7f});
    const ValueId y = b.Binary(op, p, b.Binary(OpKind::kAdd, q, p));
    CheckGradients(b, b.MeanSquaredError(y, b.Input("target", {4, 3})), 11);
  }
}

TEST(Autodiff, MatchesCentralDifferencesForRowsAndColumns) {
  for (const OpKind op : {OpKind::kAddRow, OpKind::kMultiplyRow}) {
    GraphBuilder b(Regime::kTraining);
    const ValueId p = b.Parameter("p", {4, 3}, kSpread);
    const ValueId v = b.Parameter("v", {1, 3}, kSpread);
    const ValueId y = b.Binary(op, p, v);
    CheckGradients(b, b.MeanSquaredError(y, b.Input("target", {4, 3})), 12);
  }
  for (const OpKind op : {OpKind::kAddColumn, OpKind::kSubtractColumn, OpKind::kMultiplyColumn}) {
    GraphBuilder b(Regime::kTraining);
    const ValueId p = b.Parameter("p", {4, 3}, kSpread);
    const ValueId c = b.RowSum(b.Parameter("q", {4, 3}, kSpread), 0.4f);
    const ValueId y = b.Binary(op, p, c);
    CheckGradients(b, b.MeanSquaredError(y, b.Input("target", {4, 3})), 13);
  }
}

TEST(Autodiff, MatchesCentralDifferencesForTheLayerNorm) {
  GraphBuilder b(Regime::kTraining);
  const ValueId p = b.Parameter("p", {3, 6}, kSpread);
  const ValueId gain = b.Parameter("gain", {1, 6}, {Initial::Kind::kConstant, 1.2f});
  const ValueId bias = b.Parameter("bias", {1, 6}, kSpread);
  const ValueId y = b.LayerNorm(p, gain, bias, 1e-3f);
  CheckGradients(b, b.MeanSquaredError(y, b.Input("target", {3, 6})), 14);
}

TEST(Autodiff, MatchesCentralDifferencesForProductsWithBiasAndGelu) {
  GraphBuilder b(Regime::kTraining);
  const ValueId x = b.Input("x", {5, 4});
  const ValueId w1 = b.Parameter("w1", {4, 6}, kSpread);
  const ValueId b1 = b.Parameter("b1", {1, 6}, kSpread);
  const ValueId w2 = b.Parameter("w2", {6, 3}, kSpread);
  const ValueId hidden = b.Unary(OpKind::kGelu, b.Binary(OpKind::kAddRow, b.Gemm(x, w1), b1));
  const ValueId y = b.Gemm(hidden, w2);
  CheckGradients(b, b.MeanSquaredError(y, b.Input("target", {5, 3})), 15);
}

TEST(Autodiff, MatchesCentralDifferencesForEmbeddingPositionsAndCrossEntropy) {
  GraphBuilder b(Regime::kTraining);
  const ValueId ids = b.InputIds("ids", 6, 5);
  const ValueId table = b.Parameter("table", {5, 4}, kSpread);
  const ValueId places = b.Parameter("places", {3, 4}, kSpread);
  const ValueId w = b.Parameter("w", {4, 5}, kSpread);
  const ValueId x =
      b.Apply(OpKind::kAddTiled, {b.Binary(OpKind::kGather, table, ids), places}, {.period = 3});
  CheckGradients(b, b.CrossEntropy(b.Gemm(x, w), b.InputIds("targets", 6, 5)), 16);
}

TEST(Autodiff, MatchesCentralDifferencesForAttention) {
  GraphBuilder b(Regime::kTraining);
  const ValueId x = b.Input("x", {8, 4});
  const ValueId w = b.Parameter("w", {4, 12}, kSpread);
  const ValueId y = b.Attention(b.Gemm(x, w), 2, 4).out;
  CheckGradients(b, b.MeanSquaredError(y, b.Input("target", {8, 4})), 17);
}

TEST(Autodiff, AddsTheContributionsOfEveryUse) {
  GraphBuilder b(Regime::kTraining);
  const ValueId p = b.Parameter("p", {2, 3}, kSpread);
  const ValueId once = b.Unary(OpKind::kTanh, p);
  const ValueId y = b.Binary(OpKind::kAdd, b.Binary(OpKind::kMultiply, once, p), p);
  CheckGradients(b, b.MeanSquaredError(y, b.Input("target", {2, 3})), 18);
}

TEST(Autodiff, GivesNoGradientToAParameterTheLossDoesNotSee) {
  GraphBuilder b(Regime::kTraining);
  const ValueId p = b.Parameter("p", {2, 3}, kSpread);
  const ValueId unseen = b.Parameter("unseen", {2, 3}, kSpread);
  const ValueId loss = b.MeanSquaredError(p, b.Input("target", {2, 3}));
  b.SetLoss(loss);
  const Gradients gradients = AppendBackward(&b, loss);
  EXPECT_EQ(gradients.count(p), 1u);
  EXPECT_EQ(gradients.count(unseen), 0u);
}

}  // namespace
}  // namespace blazed::graph
