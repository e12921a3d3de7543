#include "kernels/graph/fingerprint.h"

#include <gtest/gtest.h>

#include "kernels/graph/autodiff.h"
#include "kernels/graph/builder.h"
#include "kernels/graph/optimiser.h"

namespace blazed::graph {
namespace {

Graph MakeGraph(int64_t width, const std::string& prefix, float rate = 0.1f) {
  GraphBuilder b(Regime::kTraining);
  const ValueId x = b.Input(prefix + "x", {4, width});
  const ValueId w = b.Parameter(prefix + "w", {width, 2}, {Initial::Kind::kNormal, 1.0f});
  // One call a statement: the order of arguments' evaluation is the compiler's.
  const ValueId target = b.Input(prefix + "t", {4, 2});
  const ValueId loss = b.MeanSquaredError(b.Gemm(x, w), target);
  b.SetLoss(loss);
  AppendSgd(&b, AppendBackward(&b, loss), rate);
  std::string error;
  auto graph = b.Finish(&error);
  EXPECT_TRUE(graph.has_value()) << error;
  return *std::move(graph);
}

TEST(Fingerprint, DoesNotDependOnNames) {
  EXPECT_EQ(Fingerprint(MakeGraph(3, "a/")), Fingerprint(MakeGraph(3, "quite another/")));
}

TEST(Fingerprint, TellsShapesApart) {
  EXPECT_NE(Fingerprint(MakeGraph(1024, "")), Fingerprint(MakeGraph(1025, "")));
}

TEST(Fingerprint, TellsAttributesApart) {
  EXPECT_NE(Fingerprint(MakeGraph(3, "", 0.1f)), Fingerprint(MakeGraph(3, "", 0.2f)));
}

TEST(Fingerprint, TellsRegimesApart) {
  const auto make = [](Regime regime) {
    GraphBuilder b(regime);
    b.Unary(OpKind::kTanh, b.Input("x", {2, 2}));
    std::string error;
    return *b.Finish(&error);
  };
  EXPECT_NE(Fingerprint(make(Regime::kForward)), Fingerprint(make(Regime::kTraining)));
}

// A tripwire: stored evidence is found by this number, so a change of it loses every store's
// knowledge. If it must change, raise the form's epoch in CanonicalPrint and say why in docs/adr.
TEST(Fingerprint, StaysTheSameInEveryProcessAndVersion) {
  EXPECT_EQ(Fingerprint(MakeGraph(3, "")).ToHex(), "f6a68701e8cb77ba693378c042d7221b");
}

TEST(Hash128, PrintsTheHighHalfFirst) {
  EXPECT_EQ((Hash128{1, 0xab}).ToHex(), "000000000000000100000000000000ab");
}

}  // namespace
}  // namespace blazed::graph
