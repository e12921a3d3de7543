#include "kernels/fuse/legality.h"

#include <gtest/gtest.h>

#include "kernels/graph/builder.h"

namespace blazed::fuse {
namespace {

using graph::GraphBuilder;
using graph::OpKind;
using graph::Regime;
using graph::ValueId;

graph::Graph Finish(GraphBuilder* builder) {
  std::string error;
  auto graph = builder->Finish(&error);
  EXPECT_TRUE(graph.has_value()) << error;
  return *std::move(graph);
}

TEST(Legality, LetsNeighboursThatShareATensorMerge) {
  GraphBuilder b(Regime::kForward);
  const ValueId x = b.Input("x", {8, 4});
  b.Unary(OpKind::kExp, b.Unary(OpKind::kTanh, x));
  b.Unary(OpKind::kSquare, x);
  const graph::Graph graph = Finish(&b);
  EXPECT_EQ(WhyNotJoin(graph, {0}, 1), "");
  EXPECT_EQ(WhyNotJoin(graph, {0, 1}, 2), "");
}

TEST(Legality, RefusesNeighboursWithNothingInCommon) {
  GraphBuilder b(Regime::kForward);
  b.Unary(OpKind::kTanh, b.Input("x", {8, 4}));
  b.Unary(OpKind::kTanh, b.Input("y", {8, 4}));
  const graph::Graph graph = Finish(&b);
  EXPECT_EQ(WhyNotJoin(graph, {0}, 1), "has no tensor in common with its neighbours");
  EXPECT_EQ(WhyUnsafe(graph, {0}, 1), "");
}

TEST(Legality, RefusesToReadASumThatIsUnfinished) {
  GraphBuilder b(Regime::kForward);
  const ValueId x = b.Input("x", {8, 4});
  b.Apply(OpKind::kSpreadRow, {b.ColumnSum(x, 1.0f)}, {.alpha = 1.0f}, {8, 4});
  const graph::Graph graph = Finish(&b);
  EXPECT_EQ(WhyUnsafe(graph, {0}, 1), "reads a column_sum that is unfinished until the last row");
}

TEST(Legality, RefusesToReadTheWholeOfATiledTensor) {
  GraphBuilder b(Regime::kForward);
  const ValueId table = b.Unary(OpKind::kTanh, b.Input("table", {8, 4}));
  b.Binary(OpKind::kGather, table, b.InputIds("ids", 8, 8));
  const graph::Graph graph = Finish(&b);
  EXPECT_EQ(WhyUnsafe(graph, {0}, 1), "needs the whole of a tensor of which only a tile is done");
}

TEST(Legality, LetsAOneRowTensorBeReadWhole) {
  GraphBuilder b(Regime::kForward);
  const ValueId v = b.Unary(OpKind::kTanh, b.Input("v", {1, 4}));
  b.Binary(OpKind::kAddRow, b.Input("x", {1, 4}), v);
  EXPECT_EQ(WhyUnsafe(Finish(&b), {0}, 1), "");
}

TEST(Legality, RefusesOtherRows) {
  GraphBuilder b(Regime::kForward);
  b.Unary(OpKind::kTanh, b.Input("x", {8, 4}));
  b.Unary(OpKind::kTanh, b.Input("y", {6, 4}));
  EXPECT_EQ(WhyUnsafe(Finish(&b), {0}, 1), "walks 6 rows, its neighbour 8");
}

TEST(Legality, KeepsLibraryProductsAndAttentionApart) {
  GraphBuilder b(Regime::kForward);
  const ValueId y = b.Gemm(b.Input("x", {8, 4}), b.Input("w", {4, 12}));
  const ValueId o = b.Attention(y, 2, 4).out;
  b.Unary(OpKind::kTanh, o);
  const graph::Graph graph = Finish(&b);
  EXPECT_EQ(WhyUnsafe(graph, {0}, 1), "a library GEMM is a block of its own");
  EXPECT_EQ(WhyUnsafe(graph, {1}, 2), "attention works on whole sequences");
}

TEST(Legality, OffersAnEpilogueOnlyToWhatReadsTheProductByRow) {
  GraphBuilder b(Regime::kForward);
  const ValueId x = b.Input("x", {8, 8});
  const ValueId y = b.Gemm(x, b.Input("w", {8, 8}));
  b.Unary(OpKind::kTanh, y);
  b.Unary(OpKind::kTanh, x);
  b.Binary(OpKind::kGather, y, b.InputIds("ids", 8, 8));
  const graph::Graph graph = Finish(&b);
  EXPECT_EQ(WhyNoEpilogue(graph, 0, 1), "");
  EXPECT_EQ(WhyNoEpilogue(graph, 0, 2), "what follows does not read the product");
  EXPECT_EQ(WhyNoEpilogue(graph, 0, 3), "needs the whole of a tensor of which only a tile is done");
}

TEST(Legality, OffersNoEpilogueToAWeightGradient) {
  GraphBuilder b(Regime::kForward);
  b.Unary(OpKind::kTanh, b.Binary(OpKind::kGemmTN, b.Input("x", {8, 4}), b.Input("dy", {8, 4})));
  EXPECT_EQ(WhyNoEpilogue(Finish(&b), 0, 1), "the product is finished only after the last row");
}

}  // namespace
}  // namespace blazed::fuse
