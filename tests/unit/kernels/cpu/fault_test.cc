// The wrong variants that gates are tested with are wrong in the way they say.
#include "kernels/cpu/fault.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/isa/table.h"
#include "kernels/graph/autodiff.h"
#include "kernels/graph/optimiser.h"
#include "tests/unit/kernels/support/plans.h"

namespace blazed::cpu {
namespace {

using graph::GraphBuilder;
using graph::Initial;
using graph::OpKind;
using graph::ValueId;
using testing::Differences;
using testing::Rig;

Rig MakeLayer() {
  GraphBuilder b(graph::Regime::kTraining);
  const ValueId x = b.Input("x", {90, 24});
  const ValueId w = b.Parameter("w", {24, 24}, {Initial::Kind::kNormal, 0.3f});
  const ValueId gain = b.Parameter("gain", {1, 24}, {Initial::Kind::kConstant, 1.0f});
  const ValueId bias = b.Parameter("bias", {1, 24}, {});
  const ValueId y = b.LayerNorm(b.Unary(OpKind::kTanh, b.Gemm(x, w)), gain, bias, 1e-3f);
  b.Expose(y, graph::Role::kOutput, "y");
  const ValueId loss = b.MeanSquaredError(y, b.Input("target", {90, 24}));
  b.SetLoss(loss);
  AppendSgd(&b, AppendBackward(&b, loss), 0.1f);
  return testing::MakeRig(std::move(b), 3);
}

std::vector<ProbeTensor> ProbeWith(Rig* rig, const Fault& fault) {
  BuildOptions options;
  options.fault = &fault;
  options.tile_bytes = 2048;
  return rig->Build({}, options)->RunProbe(*rig->inputs);
}

TEST(Fault, DroppingTheLastTileChangesTheOutput) {
  Rig rig = MakeLayer();
  const auto right = rig.Build({})->RunProbe(*rig.inputs);
  const auto wrong = ProbeWith(&rig, {.kind = Fault::Kind::kDropLastTile, .claimed_signature = {}});
  const auto names = Differences(right, wrong);
  EXPECT_NE(std::find(names.begin(), names.end(), "y"), names.end());
}

TEST(Fault, NanReachesTheGradientAndTheNextParameters) {
  Rig rig = MakeLayer();
  const auto wrong = ProbeWith(&rig, {.kind = Fault::Kind::kNan, .claimed_signature = {}});
  EXPECT_TRUE(std::isnan(testing::Find(wrong, "loss", graph::Role::kLoss).f32[0]));
  EXPECT_TRUE(std::isnan(testing::Find(wrong, "w", graph::Role::kGradient).f32[0]));
  EXPECT_TRUE(std::isnan(testing::Find(wrong, "next/w", graph::Role::kOutput).f32[0]));
}

TEST(Fault, ReorderingSumsChangesNoMoreThanRounding) {
  Rig rig = MakeLayer();
  const auto right = rig.Build({})->RunProbe(*rig.inputs);
  const auto wrong = ProbeWith(&rig, {.kind = Fault::Kind::kReorderSums, .claimed_signature = {}});
  EXPECT_FALSE(Differences(right, wrong).empty());
  for (size_t t = 0; t < right.size(); ++t) {
    for (size_t i = 0; i < right[t].f32.size(); ++i) {
      EXPECT_NEAR(right[t].f32[i], wrong[t].f32[i], 1e-5f) << right[t].name;
    }
  }
}

TEST(Fault, ForgingASignatureClaimsTheGivenOne) {
  Rig rig = MakeLayer();
  const auto honest = rig.Build({});
  honest->Observe(*rig.inputs);
  const Fault fault = {.kind = Fault::Kind::kForgeSignature,
                       .claimed_signature = honest->signature()};
  BuildOptions options;
  options.fault = &fault;
  const auto forged = rig.Build(testing::AllCut(rig.space), options);
  EXPECT_EQ(forged->signature(), graph::Hash128());
  forged->Observe(*rig.inputs);
  EXPECT_EQ(forged->signature(), honest->signature());
  EXPECT_NE(forged->record().Signature(), honest->signature());
}

// Control for the legality predicate: running tiles through a merge it refuses (a sum that is read
// before it is finished) gives other values.
TEST(Legality, ProtectsTheValues) {
  const int64_t rows = 128, cols = 8;
  std::vector<float> x(static_cast<size_t>(rows * cols));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) - 5.0f;
  std::vector<float> result[2];
  for (const int64_t tile : {rows, rows / 2}) {
    std::vector<float> state(static_cast<size_t>(ColumnSumStateFloats(rows, cols)));
    std::vector<float> sum(static_cast<size_t>(cols));
    std::vector<float> out(x.size());
    for (int64_t row = 0; row < rows; row += tile) {
      TileArgs args;
      args.in[0] = x.data() + row * cols;
      args.out = sum.data();
      args.rows = tile;
      args.row_begin = row;
      args.total_rows = rows;
      args.cols = cols;
      args.alpha = 1.0f;
      args.state = state.data();
      KernelsFor(0).tile[static_cast<size_t>(OpKind::kColumnSum)](args);
      args.in[1] = sum.data();
      args.out = out.data() + row * cols;
      KernelsFor(0).tile[static_cast<size_t>(OpKind::kAddRow)](args);
    }
    result[tile == rows ? 0 : 1] = out;
  }
  EXPECT_NE(result[0], result[1]);
}

}  // namespace
}  // namespace blazed::cpu
