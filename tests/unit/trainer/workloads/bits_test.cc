// Every plan that promises the same bits gives them, for every workload, at odd shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "client/trainer/workloads/workload.h"
#include "tests/unit/kernels/support/plans.h"
#include "tests/unit/kernels/support/reference.h"

namespace blazed::workloads {
namespace {

using testing::Bits;
using testing::Rig;

struct Case {
  std::string name;
  WorkloadOptions options;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const graph::Regime regime : {graph::Regime::kTraining, graph::Regime::kForward}) {
    for (const int width : {1, 7, 64, 129}) {
      cases.push_back({"chain", {.width = width, .batch = 67, .regime = regime}});
      cases.push_back({"mlp", {.width = width, .batch = 70, .layers = 2, .regime = regime}});
    }
    cases.push_back(
        {"attention",
         {.width = 33, .seq = 70, .batch = 3, .layers = 2, .heads = 3, .regime = regime}});
    cases.push_back(
        {"attention",
         {.width = 16, .seq = 13, .batch = 5, .layers = 1, .heads = 2, .regime = regime}});
    cases.push_back(
        {"attention",
         {.width = 5, .seq = 1, .batch = 1, .layers = 1, .heads = 1, .regime = regime}});
  }
  return cases;
}

TEST(Bits, AreEqualUnderRandomPlansOfEveryWorkload) {
  constexpr uint64_t kSeed = 41;
  std::mt19937_64 random(kSeed);
  for (const Case& c : Cases()) {
    const auto workload = Make(c.name, c.options);
    ASSERT_TRUE(workload.ok()) << workload.status();
    Rig rig = testing::MakeRig(workload->graph, 1);
    const auto expected = rig.Build({})->RunProbe(*rig.inputs);
    for (int round = 0; round < 5; ++round) {
      const fuse::Plan plan =
          testing::RandomPlan(rig.space, Bits::kSame, round == 0 ? 1.0 : 0.3, &random);
      EXPECT_TRUE(testing::Differences(expected, rig.Build(plan)->RunProbe(*rig.inputs)).empty())
          << c.name << " width " << c.options.width << " seed " << kSeed << " plan "
          << fuse::PlanText(plan);
    }
  }
}

TEST(Bits, StayCloseUnderPlansThatReorderSums) {
  std::mt19937_64 random(43);
  const auto workload = Make("mlp", {.width = 300, .batch = 300, .layers = 2});
  Rig rig = testing::MakeRig(workload->graph, 1);
  const auto expected = rig.Build({})->RunProbe(*rig.inputs);
  const fuse::Plan plan = testing::RandomPlan(rig.space, Bits::kAny, 1.0, &random);
  const auto other = rig.Build(plan)->RunProbe(*rig.inputs);
  for (size_t t = 0; t < expected.size(); ++t) {
    if (expected[t].role != graph::Role::kGradient) continue;
    for (size_t i = 0; i < expected[t].f32.size(); ++i) {
      EXPECT_NEAR(expected[t].f32[i], other[t].f32[i], 1e-5) << expected[t].name;
    }
  }
}

// The whole model, forward, backward and optimiser, against double precision.
TEST(Attention, AgreesWithTheReferenceInDouble) {
  const auto workload =
      Make("attention", {.width = 12, .seq = 9, .batch = 2, .layers = 2, .heads = 3});
  Rig rig = testing::MakeRig(workload->graph, 6);
  testing::Reference reference(*rig.graph, *rig.model, *rig.inputs);
  reference.Run();
  const auto probe = rig.Build({})->RunProbe(*rig.inputs);
  int gradients = 0;
  for (const graph::Exposed& exposed : rig.graph->exposed()) {
    if (exposed.role != graph::Role::kGradient) continue;
    ++gradients;
    const auto& f32 = testing::Find(probe, exposed.name, graph::Role::kGradient).f32;
    const testing::Tensor& exact = reference[exposed.value];
    double largest = 0.0;
    for (const double x : exact) largest = std::max(largest, std::fabs(x));
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(f32[i], exact[i], 1e-7 + 1e-4 * largest) << exposed.name << " " << i;
    }
  }
  EXPECT_EQ(gradients, 28);
}

}  // namespace
}  // namespace blazed::workloads
