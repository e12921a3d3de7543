// A step on several threads: the same bits, and what is divided shows in the signature.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/fuse/threads.h"
#include "kernels/graph/autodiff.h"
#include "kernels/graph/optimiser.h"
#include "tests/unit/kernels/support/plans.h"

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

constexpr int kMost = 3;

// Attention over sequences, a product with bias and gelu, sums over columns; trained by Adam.
Rig ThreadedRig(int64_t rows, int64_t width, int64_t period) {
  GraphBuilder b(Regime::kTraining);
  const ValueId x = b.Input("x", {rows, width});
  const ValueId places = b.Parameter("places", {period, width}, {Initial::Kind::kNormal, 0.2f});
  const ValueId w = b.Parameter("w", {width, 3 * width}, {Initial::Kind::kNormal, 0.2f});
  const ValueId c = b.Parameter("c", {1, 3 * width}, {});
  const ValueId placed =
      b.Apply(OpKind::kAddTiled, {x, places}, {.period = static_cast<int>(period)});
  const ValueId qkv = b.Binary(OpKind::kAddRow, b.Gemm(placed, w), c);
  const ValueId mixed = b.Attention(qkv, 1, static_cast<int>(period)).out;
  const ValueId y = b.Binary(OpKind::kAdd, b.Unary(OpKind::kGelu, mixed), x);
  b.Expose(y, graph::Role::kPrediction, "y");
  const ValueId loss = b.MeanSquaredError(y, b.Input("target", {rows, width}));
  b.SetLoss(loss);
  AppendAdam(&b, AppendBackward(&b, loss), {.rate = 0.01f});
  Rig rig = testing::MakeRig(std::move(b), 5);
  EXPECT_TRUE(fuse::OfferThreads(kMost, &rig.space).ok());
  return rig;
}

// However small the parts are.
BuildOptions Divided() {
  BuildOptions options;
  options.part_vectors = 1;
  return options;
}

// `plan` on as many threads as the option says; 0: on one.
fuse::Plan OnThreads(const Rig& rig, fuse::Plan plan, int option) {
  const int last = static_cast<int>(rig.space.decisions.size()) - 1;
  std::erase_if(plan, [last](const fuse::PlanEntry& entry) { return entry.decision == last; });
  if (option > 0) plan.push_back({last, option});
  return plan;
}

TEST(Threads, ChangeNoBitUnderAnyPlan) {
  std::mt19937_64 random(77);
  for (const auto& [rows, width, period] :
       {std::tuple{1, 4, 1}, {64, 5, 64}, {130, 16, 65}, {320, 20, 32}, {1025, 12, 41}}) {
    Rig rig = ThreadedRig(rows, width, period);
    const auto expected = rig.Build({})->RunProbe(*rig.inputs);
    for (int round = 0; round < 12; ++round) {
      const fuse::Plan plan =
          OnThreads(rig, testing::RandomPlan(rig.space, Bits::kSame, 0.4, &random), 1 + round % 2);
      BuildOptions options = Divided();
      options.tile_bytes = static_cast<int64_t>(64u << (random() % 10));
      EXPECT_TRUE(Differences(expected, rig.Build(plan, options)->RunProbe(*rig.inputs)).empty())
          << rows << "x" << width << " seed 77 plan " << fuse::PlanText(plan);
    }
  }
}

TEST(Threads, TrainToTheSameBitsWhicheverStepsUseThem) {
  std::optional<graph::Hash128> expected;
  for (int round = 0; round < 3; ++round) {
    Rig rig = ThreadedRig(200, 12, 40);
    const auto one = rig.Build({});
    const auto many = rig.Build(OnThreads(rig, {}, 2), Divided());
    for (int step = 0; step < 6; ++step) {
      const bool threads = round == 1 || (round == 2 && step % 2 == 0);
      (threads ? many : one)->Run(*rig.inputs);
    }
    if (!expected.has_value()) expected = rig.model->Digest();
    EXPECT_EQ(rig.model->Digest(), *expected) << "round " << round;
  }
}

TEST(Threads, ShowInTheSignatureWhereABlockIsDivided) {
  Rig rig = ThreadedRig(320, 20, 32);
  std::vector<graph::Hash128> seen;
  for (int option = 0; option <= 2; ++option) {
    const auto variant = rig.Build(OnThreads(rig, {}, option), Divided());
    variant->Observe(*rig.inputs);
    const auto& lines = variant->record().lines();
    EXPECT_EQ(std::any_of(
                  lines.begin(), lines.end(),
                  [](const std::string& line) { return line.find(" parts") != std::string::npos; }),
              option > 0);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), variant->signature()), 0) << option;
    seen.push_back(variant->signature());
  }
}

// To hand over a few rows costs more than they do: then threads are asked for and not used.
TEST(Threads, ShowNowhereWhereNoBlockIsWorthDividing) {
  GraphBuilder b(Regime::kForward);
  const ValueId x = b.Input("x", {256, 8});
  b.Expose(b.Unary(OpKind::kTanh, x), graph::Role::kOutput, "y");
  Rig rig = testing::MakeRig(std::move(b), 1);
  ASSERT_TRUE(fuse::OfferThreads(kMost, &rig.space).ok());
  const auto one = rig.Build({});
  const auto many = rig.Build(OnThreads(rig, {}, 2));
  one->Observe(*rig.inputs);
  many->Observe(*rig.inputs);
  EXPECT_EQ(one->signature(), many->signature());
}

}  // namespace
}  // namespace blazed::cpu
