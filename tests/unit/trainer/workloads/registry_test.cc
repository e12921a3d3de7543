#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "client/trainer/workloads/workload.h"
#include "kernels/graph/fingerprint.h"

namespace blazed::workloads {
namespace {

TEST(Workloads, AreListedByName) {
  for (const std::string& name : WorkloadNames()) {
    const auto workload = Make(name, {});
    ASSERT_TRUE(workload.ok()) << workload.status();
    EXPECT_GT(workload->options.width, 0);
    EXPECT_FALSE(workload->space.decisions.empty());
  }
}

TEST(Workloads, NameEveryDecisionOnceAndWithItsPlace) {
  for (const std::string& name : WorkloadNames()) {
    const auto workload = Make(name, {.layers = 3});
    ASSERT_TRUE(workload.ok()) << workload.status();
    std::set<std::string> names;
    for (const fuse::Decision& decision : workload->space.decisions) {
      EXPECT_TRUE(names.insert(decision.name).second) << decision.name;
      EXPECT_EQ(decision.name.find('#'), std::string::npos)
          << decision.name << ": a number tells a reader nothing";
      EXPECT_LE(decision.name.size(), fuse::kLongestName) << decision.name;
      for (const graph::NodeId site : decision.sites) {
        const graph::Node& node = workload->graph->node(site);
        EXPECT_FALSE(node.place.empty()) << decision.name;
      }
    }
  }
}

TEST(Workloads, NameADecisionOfAllLayersByAllLayers) {
  const auto workload = Make("attention", {.layers = 3});
  ASSERT_TRUE(workload.ok()) << workload.status();
  bool all_layers = false;
  for (const fuse::Decision& decision : workload->space.decisions) {
    all_layers = all_layers || decision.name.find(" layer*/") != std::string::npos;
  }
  EXPECT_TRUE(all_layers);
}

TEST(Workloads, RefuseAnUnknownName) {
  const auto workload = Make("perceptron", {});
  EXPECT_EQ(workload.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(workload.status().message(),
            "no workload is named \"perceptron\"; use one of mlp, attention, chain");
}

TEST(Workloads, RefuseSizesOutOfRange) {
  for (const WorkloadOptions& options :
       {WorkloadOptions{.width = -1}, WorkloadOptions{.width = 16385}, WorkloadOptions{.seq = 5000},
        WorkloadOptions{.batch = -3}, WorkloadOptions{.layers = 33}, WorkloadOptions{.heads = 65},
        WorkloadOptions{.width = 100, .heads = 7}, WorkloadOptions{.threads = 0},
        WorkloadOptions{.threads = 65},
        WorkloadOptions{.width = 16384, .seq = 4096, .batch = 8192}}) {
    EXPECT_EQ(Make("attention", options).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

// Adam keeps two numbers beside each parameter: two layers of (2 x 8 x 8 + 4 x 8) x 3 floats.
TEST(Workloads, RefuseAMachineThatCannotHoldTheModel) {
  WorkloadOptions options;
  options.width = 8;
  options.layers = 2;
  const auto workload = Make("mlp", options);
  ASSERT_TRUE(workload.ok()) << workload.status();
  constexpr uint64_t kBytes = 2 * (2 * 8 * 8 + 4 * 8) * 3 * sizeof(float);
  EXPECT_TRUE(CheckMemory(*workload, kBytes + 64).ok());
  const absl::Status refused = CheckMemory(*workload, kBytes - 1);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr(" has 0 MiB; make the width"));
}

TEST(Workloads, HaveADecisionMoreWhereStepsMayUseThreads) {
  const auto one = Make("mlp", {});
  const auto four = Make("mlp", {.threads = 4});
  ASSERT_TRUE(four.ok()) << four.status();
  ASSERT_EQ(four->space.decisions.size(), one->space.decisions.size() + 1);
  EXPECT_EQ(four->space.decisions.back().name, "threads");
  EXPECT_EQ(four->space.decisions.back().options.size(), 3u);
}

TEST(Workloads, TellWidthsApartByFingerprint) {
  const auto narrow = Make("mlp", {.width = 1023});
  const auto even = Make("mlp", {.width = 1024});
  const auto wide = Make("mlp", {.width = 1025});
  EXPECT_NE(graph::Fingerprint(*narrow->graph), graph::Fingerprint(*even->graph));
  EXPECT_NE(graph::Fingerprint(*even->graph), graph::Fingerprint(*wide->graph));
}

TEST(Workloads, HaveAForwardRegimeWithoutLossAndOptimiser) {
  for (const std::string& name : WorkloadNames()) {
    const auto workload = Make(name, {.regime = graph::Regime::kForward});
    ASSERT_TRUE(workload.ok()) << workload.status();
    EXPECT_EQ(workload->graph->loss(), graph::kNone);
    for (const graph::Node& node : workload->graph->nodes()) {
      EXPECT_EQ(node.phase, graph::Phase::kForward);
    }
  }
}

TEST(Workloads, HaveTwelveOperationsInAForwardChain) {
  EXPECT_EQ(Make("chain", {.regime = graph::Regime::kForward})->graph->nodes().size(), 12u);
}

TEST(Batches, AreTheSameForTheSameStepAndSeed) {
  const auto workload = Make("mlp", {.width = 8, .batch = 4, .seed = 9});
  cpu::StepInputs first(*workload->graph), second(*workload->graph);
  const auto batches = MakeBatches(*workload, nullptr);
  (*batches)->Fill(3, &first);
  (*batches)->Fill(4, &second);
  EXPECT_NE(first.F32(0), second.F32(0));
  (*batches)->Fill(3, &second);
  EXPECT_EQ(first.F32(0), second.F32(0));
  EXPECT_EQ(first.F32(1), second.F32(1));
}

TEST(Batches, TakeTheNextCharacterAsTarget) {
  const auto workload =
      Make("attention", {.width = 8, .seq = 5, .batch = 3, .layers = 1, .heads = 2});
  const auto corpus = Corpus::FromText("abcdefghijklmnopqrstuvwxyz", MinimumText(*workload));
  cpu::StepInputs inputs(*workload->graph);
  (*MakeBatches(*workload, &*corpus))->Fill(0, &inputs);
  ASSERT_TRUE(inputs.Check().ok());
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(inputs.I32(1)[i], inputs.I32(0)[i] + 1);
}

TEST(Batches, TakeATextOfTheSmallestLength) {
  const auto workload =
      Make("attention", {.width = 8, .seq = 5, .batch = 3, .layers = 1, .heads = 2});
  const auto corpus = Corpus::FromText("abcdef", MinimumText(*workload));
  ASSERT_TRUE(corpus.ok());
  cpu::StepInputs inputs(*workload->graph);
  (*MakeBatches(*workload, &*corpus))->Fill(7, &inputs);
  EXPECT_EQ(inputs.I32(0)[0], 0);
  EXPECT_EQ(inputs.I32(1)[4], 5);
}

TEST(Batches, RefuseAttentionWithoutAText) {
  const auto workload = Make("attention", {});
  EXPECT_EQ(MakeBatches(*workload, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace blazed::workloads
