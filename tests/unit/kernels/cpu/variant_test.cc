#include "kernels/cpu/variant.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/graph/autodiff.h"
#include "kernels/graph/optimiser.h"
#include "tests/unit/kernels/support/plans.h"
#include "tests/unit/kernels/support/reference.h"

namespace blazed::cpu {
namespace {

using graph::GraphBuilder;
using graph::Initial;
using graph::OpKind;
using graph::Regime;
using graph::ValueId;
using testing::Bits;
using testing::Differences;
using testing::Rig;

// Normalisation, a product with bias and gelu, a residual, trained by Adam.
GraphBuilder Layer(int64_t rows, int64_t width) {
  GraphBuilder b(Regime::kTraining);
  const ValueId x = b.Input("x", {rows, width});
  const ValueId gain = b.Parameter("gain", {1, width}, {Initial::Kind::kConstant, 1.0f});
  const ValueId bias = b.Parameter("bias", {1, width}, {});
  const ValueId w = b.Parameter("w", {width, width}, {Initial::Kind::kNormal, 0.2f});
  const ValueId c = b.Parameter("c", {1, width}, {});
  const ValueId normed = b.LayerNorm(x, gain, bias, 1e-5f);
  const ValueId active = b.Unary(OpKind::kGelu, b.Binary(OpKind::kAddRow, b.Gemm(normed, w), c));
  const ValueId y = b.Binary(OpKind::kAdd, active, x);
  b.Expose(y, graph::Role::kPrediction, "y");
  const ValueId loss = b.MeanSquaredError(y, b.Input("target", {rows, width}));
  b.SetLoss(loss);
  AppendAdam(&b, AppendBackward(&b, loss), {.rate = 0.01f});
  return b;
}

BuildOptions Level(int level) {
  BuildOptions options;
  options.isa_level = level;
  return options;
}

Rig LayerRig(int64_t rows, int64_t width) { return testing::MakeRig(Layer(rows, width), 5); }

TEST(Variant, ComputesWhatTheReferenceComputes) {
  Rig rig = LayerRig(130, 20);
  testing::Reference reference(*rig.graph, *rig.model, *rig.inputs);
  reference.Run();
  const auto probe = rig.Build({})->RunProbe(*rig.inputs);
  for (const graph::Exposed& exposed : rig.graph->exposed()) {
    const graph::Role role =
        exposed.role == graph::Role::kPrediction ? graph::Role::kOutput : exposed.role;
    const auto& f32 = testing::Find(probe, exposed.name, role).f32;
    const testing::Tensor& exact = reference[exposed.value];
    ASSERT_EQ(f32.size(), exact.size());
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(f32[i], exact[i], 1e-5 + 1e-4 * std::fabs(exact[i])) << exposed.name << i;
    }
  }
}

TEST(Variant, GivesTheSameBitsUnderAnyPlanThatPromisesThem) {
  std::mt19937_64 random(2024);
  for (const auto& [rows, width] : {std::pair{1, 1}, {3, 5}, {64, 16}, {129, 33}, {200, 40}}) {
    Rig rig = LayerRig(rows, width);
    const auto expected = rig.Build({})->RunProbe(*rig.inputs);
    for (int round = 0; round < 12; ++round) {
      const fuse::Plan plan = testing::RandomPlan(rig.space, Bits::kSame, 0.4, &random);
      BuildOptions options;
      options.tile_bytes = static_cast<int64_t>(64u << (random() % 10));
      EXPECT_TRUE(Differences(expected, rig.Build(plan, options)->RunProbe(*rig.inputs)).empty())
          << rows << "x" << width << " seed 2024 plan " << fuse::PlanText(plan);
    }
  }
}

TEST(Variant, TrainsToTheSameBitsUnderAnyPlanThatPromisesThem) {
  std::mt19937_64 random(11);
  std::optional<graph::Hash128> expected;
  for (int round = 0; round < 6; ++round) {
    Rig rig = LayerRig(70, 17);
    for (int step = 0; step < 5; ++step) {
      // A plan a step: what one variant leaves, the next must find.
      const fuse::Plan plan =
          round == 0 ? fuse::Plan() : testing::RandomPlan(rig.space, Bits::kSame, 0.5, &random);
      rig.Build(plan)->Run(*rig.inputs);
    }
    if (!expected.has_value()) expected = rig.model->Digest();
    EXPECT_EQ(rig.model->Digest(), *expected) << "round " << round << " seed 11";
  }
}

TEST(Variant, SaysWhenOptionsReorderSums) {
  Rig rig = LayerRig(64, 300);
  const fuse::Plan split = testing::Everywhere(rig.space, fuse::Topic::kGemmCall, "split_k");
  ASSERT_FALSE(split.empty());
  const auto expected = rig.Build({})->RunProbe(*rig.inputs);
  EXPECT_FALSE(Differences(expected, rig.Build(split)->RunProbe(*rig.inputs)).empty());
}

TEST(Variant, LeavesTheModelAsItWasAfterAProbe) {
  Rig rig = LayerRig(40, 8);
  const auto variant = rig.Build({});
  variant->Run(*rig.inputs);
  const graph::Hash128 before = rig.model->Digest();
  const auto probe = variant->RunProbe(*rig.inputs);
  EXPECT_EQ(rig.model->Digest(), before);
  // What the probe foretold is what the step does.
  variant->Run(*rig.inputs);
  const auto& next = testing::Find(probe, "next/w", graph::Role::kOutput).f32;
  for (size_t i = 0; i < rig.graph->values().size(); ++i) {
    if (rig.graph->values()[i].name != "w") continue;
    const auto data = rig.model->Data(static_cast<ValueId>(i));
    EXPECT_EQ(std::memcmp(data.data(), next.data(), next.size() * sizeof(float)), 0);
  }
}

TEST(Variant, GivesPredictionsBesideTheOutputTheyComeFrom) {
  Rig rig = LayerRig(9, 6);
  const auto probe = rig.Build({})->RunProbe(*rig.inputs);
  const auto& y = testing::Find(probe, "y", graph::Role::kOutput).f32;
  const auto& best = testing::Find(probe, "y/argmax", graph::Role::kPrediction).i32;
  ASSERT_EQ(best.size(), 9u);
  for (size_t r = 0; r < best.size(); ++r) {
    const auto row = y.begin() + static_cast<int64_t>(r * 6);
    EXPECT_EQ(best[r], std::max_element(row, row + 6) - row);
  }
}

TEST(Variant, RefusesAPlanThatDoesNotFitTheGraph) {
  Rig rig = LayerRig(9, 6);
  const auto variant = Variant::Build(rig.model.get(), rig.space, {{9999, 1}});
  EXPECT_EQ(variant.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Variant, GivesEqualSignaturesToEqualWorkAndOthersToOtherWork) {
  Rig rig = LayerRig(40, 8);
  std::vector<graph::Hash128> seen;
  for (size_t d = 0; d < rig.space.decisions.size(); ++d) {
    const fuse::Plan plan = {{static_cast<int>(d), 1}};
    const auto first = rig.Build(plan);
    const auto second = rig.Build(plan);
    first->Observe(*rig.inputs);
    second->RunProbe(*rig.inputs);
    EXPECT_EQ(first->signature(), second->signature());
    for (const graph::Hash128& other : seen) {
      EXPECT_NE(first->signature(), other) << rig.space.decisions[d].name;
    }
    seen.push_back(first->signature());
  }
}

// Another process has other addresses for everything it allocates before.
TEST(Variant, GivesTheSameSignatureInAnotherProcess) {
  const auto signature = [](size_t shift) {
    const std::vector<char> elsewhere(shift, 'x');
    Rig rig = LayerRig(70, 19);
    const auto variant = rig.Build({{2, 1}});
    variant->Observe(*rig.inputs);
    return variant->signature().ToHex();
  };
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string hex = signature(12345);
    const bool written = write(ends[1], hex.data(), hex.size()) == static_cast<ssize_t>(hex.size());
    _exit(written ? 0 : 1);
  }
  std::string theirs(32, '?');
  EXPECT_EQ(read(ends[0], theirs.data(), theirs.size()), 32);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(signature(0), theirs);
}

TEST(Variant, HasNoSignatureBeforeItRan) {
  Rig rig = LayerRig(9, 6);
  EXPECT_EQ(rig.Build({})->signature(), graph::Hash128());
}

// A block whose scratch would not fit is split, so that asking for the merge shows as not honoured:
// the signature is that of the plan that cuts there.
TEST(Variant, ShowsAMergeThatWasAskedForAndNotDone) {
  GraphBuilder b(Regime::kForward);
  const ValueId x = b.Input("x", {8, 64});
  const ValueId a = b.Unary(OpKind::kTanh, x);
  const ValueId sum = b.RowSum(a, 1.0f);
  b.Expose(b.Binary(OpKind::kSubtractColumn, a, sum), graph::Role::kOutput, "y");
  Rig rig = testing::MakeRig(std::move(b), 1);
  BuildOptions tight;
  tight.scratch_cap_bytes = 16;
  const auto merged = rig.Build({}, tight);
  const auto cut = rig.Build(testing::AllCut(rig.space), tight);
  const auto roomy = rig.Build({});
  const auto expected = roomy->RunProbe(*rig.inputs);
  EXPECT_TRUE(Differences(expected, merged->RunProbe(*rig.inputs)).empty());
  cut->Observe(*rig.inputs);
  EXPECT_NE(merged->signature(), roomy->signature());
  EXPECT_EQ(merged->record().lines().size(), cut->record().lines().size() - 1);
}

TEST(Variant, DoesNotRunAnEpilogueInsideAProductMadeInOneCall) {
  Rig rig = LayerRig(130, 12);
  const fuse::Plan whole = testing::Everywhere(rig.space, fuse::Topic::kGemmCall, "whole");
  fuse::Plan both = testing::Everywhere(rig.space, fuse::Topic::kEpilogue, "inside");
  both.insert(both.end(), whole.begin(), whole.end());
  std::sort(both.begin(), both.end());
  const auto asked = rig.Build(both);
  const auto given = rig.Build(whole);
  asked->Observe(*rig.inputs);
  given->Observe(*rig.inputs);
  EXPECT_EQ(asked->signature(), given->signature());
}

TEST(Variant, KeepsIntermediatesOfAMergedBlockOutOfMemory) {
  GraphBuilder b(Regime::kForward);
  ValueId x = b.Input("x", {512, 256});
  for (int i = 0; i < 6; ++i) x = b.Unary(OpKind::kTanh, x);
  b.Expose(x, graph::Role::kOutput, "y");
  Rig rig = testing::MakeRig(std::move(b), 1);
  const int64_t tensor_bytes = 512 * 256 * 4;
  BuildOptions options;
  options.tile_bytes = 32 * 1024;
  EXPECT_LT(rig.Build({}, options)->peak_bytes(), tensor_bytes + tensor_bytes / 4);
  EXPECT_GE(rig.Build(testing::AllCut(rig.space), options)->peak_bytes(), 2 * tensor_bytes);
}

TEST(Variant, GivesTheSameBitsAtEveryVectorLevel) {
  Rig rig = LayerRig(70, 19);
  const auto expected = rig.Build({}, Level(1))->RunProbe(*rig.inputs);
  for (const int level : {3, 4}) {
    EXPECT_TRUE(Differences(expected, rig.Build({}, Level(level))->RunProbe(*rig.inputs)).empty());
  }
}

TEST(Variant, RebuiltGivesTheSameBitsAndSignature) {
  Rig rig = LayerRig(70, 19);
  auto variant = rig.Build({{1, 1}});
  const auto expected = variant->RunProbe(*rig.inputs);
  const graph::Hash128 signature = variant->signature();
  variant.reset();
  variant = rig.Build({{1, 1}});
  EXPECT_TRUE(Differences(expected, variant->RunProbe(*rig.inputs)).empty());
  EXPECT_EQ(variant->signature(), signature);
  EXPECT_GT(variant->build_ns(), 0);
}

}  // namespace
}  // namespace blazed::cpu
