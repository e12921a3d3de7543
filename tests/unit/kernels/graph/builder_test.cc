#include "kernels/graph/builder.h"

#include <gtest/gtest.h>

namespace blazed::graph {
namespace {

std::string ErrorOf(GraphBuilder builder) {
  std::string error;
  EXPECT_FALSE(builder.Finish(&error).has_value());
  return error;
}

TEST(GraphBuilder, NamesTheShapesThatDoNotFit) {
  GraphBuilder b(Regime::kForward);
  b.Gemm(b.Input("x", {2, 3}), b.Input("w", {4, 5}));
  EXPECT_EQ(ErrorOf(b), "gemm cannot take 2x3 4x5");
}

TEST(GraphBuilder, KeepsTheFirstError) {
  GraphBuilder b(Regime::kForward);
  const ValueId wrong = b.Binary(OpKind::kAdd, b.Input("x", {2, 3}), b.Input("y", {3, 2}));
  EXPECT_EQ(wrong, kNone);
  b.Unary(OpKind::kTanh, wrong);
  EXPECT_EQ(ErrorOf(b), "add cannot take 2x3 3x2");
}

TEST(GraphBuilder, RefusesAWrongNumberOfInputs) {
  GraphBuilder b(Regime::kForward);
  b.Apply(OpKind::kAdd, {b.Input("x", {2, 3})});
  EXPECT_EQ(ErrorOf(b), "add takes 2 inputs, not 1");
}

TEST(GraphBuilder, RefusesATensorWithoutElements) {
  GraphBuilder b(Regime::kForward);
  b.Input("x", {0, 3});
  EXPECT_EQ(ErrorOf(b), "tensor \"x\" has no elements; give positive sizes");
}

TEST(GraphBuilder, RefusesAnEmptyGraph) {
  EXPECT_EQ(ErrorOf(GraphBuilder(Regime::kForward)), "the graph has no operation");
}

TEST(GraphBuilder, RefusesHeadsThatDoNotDivideTheWidth) {
  GraphBuilder b(Regime::kForward);
  b.Attention(b.Input("qkv", {8, 12}), 3, 4);
  EXPECT_EQ(ErrorOf(b), "attention cannot take 8x12");
}

TEST(GraphBuilder, RefusesToReadAParameterAfterItWasReplaced) {
  GraphBuilder b(Regime::kTraining);
  const ValueId p = b.Parameter("p", {2, 2}, {});
  b.Store(b.Unary(OpKind::kScale, p, 0.5f), p);
  b.Unary(OpKind::kTanh, p);
  EXPECT_EQ(ErrorOf(b), "\"p\" is read after it was replaced");
}

TEST(GraphBuilder, RefusesAStoreThatIsNotElementByElement) {
  GraphBuilder b(Regime::kTraining);
  const ValueId p = b.Parameter("p", {1, 2}, {});
  b.Store(b.ColumnSum(b.Input("x", {3, 2}), 1.0f), p);
  EXPECT_EQ(ErrorOf(b), "\"p\" is not replaced element by element");
}

TEST(GraphBuilder, RefusesPhasesThatGoBack) {
  GraphBuilder b(Regime::kTraining);
  b.SetPhase(Phase::kBackward);
  b.SetPhase(Phase::kForward);
  EXPECT_EQ(ErrorOf(b), "phases must come in the order forward, backward, optimiser");
}

TEST(GraphBuilder, ListsReadersInProgramOrder) {
  GraphBuilder b(Regime::kForward);
  const ValueId x = b.Input("x", {2, 2});
  const ValueId y = b.Unary(OpKind::kTanh, x);
  b.Binary(OpKind::kAdd, y, x);
  std::string error;
  const auto graph = b.Finish(&error);
  ASSERT_TRUE(graph.has_value()) << error;
  EXPECT_EQ(graph->readers(x), (std::vector<NodeId>{0, 1}));
  EXPECT_EQ(graph->readers(y), (std::vector<NodeId>{1}));
}

}  // namespace
}  // namespace blazed::graph
