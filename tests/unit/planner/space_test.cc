#include "daemon/planner/space.h"

#include <gtest/gtest.h>

namespace blazed::planner {
namespace {

WorkloadSpec Spec() {
  WorkloadSpec spec;
  for (int i = 0; i < 3; ++i) {
    DecisionSpec d;
    d.name = std::string("b").append(std::to_string(i));
    d.options = {"merge", "cut"};
    d.graph = 1;
    spec.decisions.push_back(d);
  }
  DecisionSpec gemm;
  gemm.name = "gemm";
  gemm.kind = DecisionKind::kChoice;
  gemm.options = {"plain", "split", "stream"};
  gemm.reorders_sums = true;
  spec.decisions.push_back(gemm);
  return spec;
}

TEST(Space, RefusesUnknownDecisionsUnknownOptionsAndRepeats) {
  const Space space(Spec(), Contract::kRounding);
  EXPECT_FALSE(space.Valid({{4, 1}}));
  EXPECT_FALSE(space.Valid({{0, 2}}));
  EXPECT_FALSE(space.Valid({{3, 1}, {3, 2}}));
  EXPECT_FALSE(space.Valid({{3, 1}, {0, 1}}));
  EXPECT_TRUE(space.Valid({{0, 1}, {3, 1}}));
  EXPECT_FALSE(space.Valid({{0, 0}}));
}

TEST(Space, WritesAPlanByNames) {
  const Space space(Spec(), Contract::kRounding);
  EXPECT_EQ(space.Text({}), "default");
  EXPECT_EQ(space.Text({{0, 1}, {3, 2}}), "b0=cut gemm=stream");
  EXPECT_EQ(space.Text({{9, 1}}), "?");
}

TEST(Space, EncodesAndDecodesEveryPlan) {
  const Space space(Spec(), Contract::kRounding);
  ASSERT_EQ(space.size(), 5u);
  for (uint32_t bits = 0; bits < 8; ++bits) {
    for (uint32_t option = 0; option < 3; ++option) {
      Plan plan;
      for (uint32_t d = 0; d < 3; ++d) {
        if ((bits >> d & 1) != 0) plan.push_back({d, 1});
      }
      if (option > 0) plan.push_back({3, option});
      EXPECT_EQ(space.Decode(space.Encode(plan)), plan);
    }
  }
}

TEST(Space, KeepsOneOptionOfADecisionOn) {
  const Space space(Spec(), Contract::kRounding);
  Toggles on = space.Encode({{3, 1}});
  space.Set(on, 4, true);
  EXPECT_EQ(space.Decode(on), (Plan{{3, 2}}));
}

TEST(Space, LeavesReorderingOptionsOutUnderBitwise) {
  const Space space(Spec(), Contract::kBitwise);
  EXPECT_EQ(space.size(), 3u);
  EXPECT_EQ(space.Decode(space.Encode({{3, 1}})), Plan{});
  EXPECT_TRUE(space.Valid({{3, 1}}));
}

TEST(Space, JoinsNeighbouringBoundariesOfOneGraph) {
  WorkloadSpec spec = Spec();
  spec.decisions[2].graph = 2;
  const Space space(spec, Contract::kRounding);
  ASSERT_EQ(space.neighbours().size(), 1u);
  EXPECT_EQ(space.neighbours()[0], (std::pair<uint32_t, uint32_t>{0, 1}));
}

TEST(Space, BoundsAnEnormousWorkloadByItsMostFrequentDecisions) {
  WorkloadSpec spec;
  for (uint32_t i = 0; i < 4096; ++i) {
    DecisionSpec d;
    d.options = {"a", "b"};
    d.sites = i == 4000 ? 9 : 1;
    spec.decisions.push_back(d);
  }
  const Space space(spec, Contract::kRounding);
  EXPECT_EQ(space.size(), Space::kMaxToggles);
  EXPECT_EQ(space.Decode(space.Encode({{4000, 1}})), (Plan{{4000, 1}}));
  EXPECT_TRUE(space.neighbours().empty());
}

TEST(Space, TakesOptionsOfOneAndNoDecisionsAtAll) {
  WorkloadSpec spec;
  EXPECT_EQ(Space(spec, Contract::kRounding).size(), 0u);
  spec.decisions.resize(2);
  spec.decisions[0].options = {"only"};
  EXPECT_EQ(Space(spec, Contract::kRounding).size(), 0u);
}

}  // namespace
}  // namespace blazed::planner
