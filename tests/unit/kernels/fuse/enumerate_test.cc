#include <gtest/gtest.h>

#include <set>

#include "kernels/fuse/decision.h"
#include "kernels/graph/autodiff.h"
#include "kernels/graph/builder.h"
#include "kernels/graph/optimiser.h"

namespace blazed::fuse {
namespace {

using graph::GraphBuilder;
using graph::Initial;
using graph::OpKind;
using graph::Regime;
using graph::ValueId;

// Residual layers of bias, gelu and product, trained by Adam.
DecisionSpace Layers(int layers, int64_t rows, int64_t width, const std::string& prefix = "") {
  GraphBuilder b(Regime::kTraining);
  ValueId x = b.Input(prefix + "x", {rows, width});
  for (int i = 0; i < layers; ++i) {
    const std::string name = prefix + std::to_string(i);
    const ValueId w = b.Parameter(name + "w", {width, width}, {Initial::Kind::kNormal, 0.1f});
    const ValueId bias = b.Parameter(name + "b", {1, width}, {});
    const ValueId y = b.Binary(OpKind::kAddRow, b.Gemm(x, w), bias);
    x = b.Binary(OpKind::kAdd, b.Unary(OpKind::kGelu, y), x);
  }
  const ValueId loss = b.MeanSquaredError(x, b.Input(prefix + "t", {rows, width}));
  b.SetLoss(loss);
  AppendAdam(&b, AppendBackward(&b, loss), {});
  std::string error;
  const auto graph = b.Finish(&error);
  EXPECT_TRUE(graph.has_value()) << error;
  DecisionSpace space;
  EXPECT_TRUE(Enumerate(*graph, &space).ok());
  return space;
}

std::set<graph::Hash128> Ids(const DecisionSpace& space) {
  std::set<graph::Hash128> ids;
  for (const Decision& d : space.decisions) ids.insert(d.id);
  return ids;
}

TEST(Enumerate, LetsIdenticalLayersShareTheirDecisions) {
  const DecisionSpace three = Layers(3, 16, 8);
  const DecisionSpace six = Layers(6, 16, 8);
  EXPECT_EQ(Ids(three), Ids(six));
  size_t widest = 0;
  for (const Decision& d : six.decisions) widest = std::max(widest, d.sites.size());
  EXPECT_GE(widest, 4u);
}

TEST(Enumerate, GivesIdsThatDoNotDependOnNames) {
  EXPECT_EQ(Ids(Layers(2, 16, 8)), Ids(Layers(2, 16, 8, "other/")));
}

TEST(Enumerate, GivesOtherIdsToOtherWidths) {
  const auto a = Ids(Layers(2, 16, 8));
  for (const Decision& d : Layers(2, 16, 9).decisions) {
    // Only work on single numbers is the same at any width.
    const bool scalar = d.name.find(" 1x1") != std::string::npos;
    EXPECT_TRUE(scalar || a.count(d.id) == 0) << d.name;
  }
}

TEST(Enumerate, OffersBoundariesInForwardBackwardAndOptimiser) {
  std::set<std::string> phases;
  for (const Decision& d : Layers(2, 16, 8).decisions) {
    if (d.kind == DecisionKind::kBoundary) phases.insert(d.name.substr(0, 3));
  }
  EXPECT_EQ(phases, (std::set<std::string>{"fwd", "bwd", "opt"}));
}

TEST(Enumerate, GivesEveryRefusedBoundaryAReason) {
  const DecisionSpace space = Layers(2, 16, 8);
  EXPECT_FALSE(space.refusals.empty());
  for (const Refusal& refusal : space.refusals) EXPECT_NE(refusal.reason, "");
}

TEST(Enumerate, AccountsForEveryBoundaryOnce) {
  const DecisionSpace space = Layers(2, 16, 8);
  std::multiset<graph::NodeId> nodes;
  for (const Refusal& refusal : space.refusals) nodes.insert(refusal.node);
  for (const Decision& d : space.decisions) {
    if (d.kind == DecisionKind::kBoundary) nodes.insert(d.sites.begin(), d.sites.end());
  }
  graph::NodeId expected = 1;
  for (const graph::NodeId node : nodes) EXPECT_EQ(node, expected++);
}

TEST(Enumerate, SaysWhichOptionsReorderSums) {
  int reordering = 0;
  for (const Decision& d : Layers(2, 300, 300).decisions) {
    EXPECT_EQ(d.options[0].numerics, Numerics::kSameBits) << d.name;
    for (const Option& option : d.options) {
      if (option.numerics != Numerics::kReordersSums) continue;
      ++reordering;
      EXPECT_NE(option.description.find("reorder"), std::string::npos) << option.description;
    }
  }
  EXPECT_GT(reordering, 0);
}

TEST(Enumerate, StaysWithinItsLimits) {
  for (const Decision& d : Layers(3, 300, 300).decisions) {
    EXPECT_GE(d.options.size(), 2u);
    EXPECT_LE(d.options.size(), static_cast<size_t>(kMaxOptions));
    EXPECT_FALSE(d.sites.empty());
  }
}

TEST(Enumerate, RefusesAGraphWithTooManyDecisions) {
  GraphBuilder b(Regime::kForward);
  ValueId x = b.Input("x", {4, 4});
  for (int i = 0; i < kMaxDecisions + 2; ++i) x = b.Unary(OpKind::kTanh, x);
  std::string error;
  const auto graph = b.Finish(&error);
  DecisionSpace space;
  const absl::Status status = Enumerate(*graph, &space);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "the graph has 513 decisions, more than 512; use fewer layers of distinct sizes");
}

TEST(CheckPlan, NamesTheOffendingEntry) {
  const DecisionSpace space = Layers(2, 16, 8);
  EXPECT_TRUE(CheckPlan(space, {}).ok());
  EXPECT_TRUE(CheckPlan(space, {{0, 1}, {3, 1}}).ok());
  const auto last = static_cast<int32_t>(space.decisions.size());
  for (const Plan& plan : {Plan{{3, 1}, {0, 1}}, Plan{{0, 1}, {0, 1}}, Plan{{-1, 1}},
                           Plan{{last, 1}}, Plan{{0, 0}}, Plan{{0, 2}}, Plan{{0, -1}}}) {
    EXPECT_EQ(CheckPlan(space, plan).code(), absl::StatusCode::kInvalidArgument) << PlanText(plan);
  }
}

TEST(PlanText, ListsWhatIsNotDefault) {
  EXPECT_EQ(PlanText({}), "default");
  EXPECT_EQ(PlanText({{3, 1}, {7, 2}}), "3=1 7=2");
}

TEST(DecisionSpace, FindsADecisionByItsId) {
  const DecisionSpace space = Layers(2, 16, 8);
  EXPECT_EQ(space.Find(space.decisions[2].id), 2);
  EXPECT_EQ(space.Find({1, 2}), -1);
}

}  // namespace
}  // namespace blazed::fuse
