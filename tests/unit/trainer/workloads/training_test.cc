#include <gtest/gtest.h>

#include <cmath>

#include "client/trainer/workloads/workload.h"
#include "tests/unit/kernels/support/plans.h"

namespace blazed::workloads {
namespace {

// Mean loss of the first and the last `window` of `steps` steps.
struct Losses {
  double first = 0.0;
  double last = 0.0;
};

Losses Train(const std::string& name, const WorkloadOptions& options, int steps) {
  constexpr int kWindow = 5;
  const auto workload = Make(name, options);
  EXPECT_TRUE(workload.ok()) << workload.status();
  std::string text;
  for (int i = 0; i < 100; ++i) text += "the quick brown fox jumps over the lazy dog. ";
  const auto corpus = Corpus::FromText(text, MinimumText(*workload));
  const auto batches = MakeBatches(*workload, &*corpus);
  testing::Rig rig = testing::MakeRig(workload->graph, options.seed);
  const auto variant = rig.Build({});
  Losses losses;
  for (int step = 0; step < steps; ++step) {
    (*batches)->Fill(step, rig.inputs.get());
    const double loss = variant->Run(*rig.inputs).loss;
    if (step < kWindow) losses.first += loss / kWindow;
    if (step >= steps - kWindow) losses.last += loss / kWindow;
  }
  return losses;
}

TEST(Training, LowersTheLossOfTheChain) {
  const Losses losses = Train("chain", {.width = 32, .batch = 64}, 200);
  EXPECT_LT(losses.last, 0.8 * losses.first);
}

TEST(Training, LowersTheLossOfTheMlp) {
  const Losses losses = Train("mlp", {.width = 32, .batch = 64, .layers = 2}, 150);
  EXPECT_LT(losses.last, 0.5 * losses.first);
}

TEST(Training, LowersTheLossOfAttention) {
  const Losses losses =
      Train("attention", {.width = 32, .seq = 16, .batch = 8, .layers = 1, .heads = 2}, 120);
  // At the start every character is as likely as any other.
  EXPECT_NEAR(losses.first, std::log(static_cast<double>(Corpus::kVocabulary)), 0.4);
  EXPECT_LT(losses.last, 0.7 * losses.first);
}

}  // namespace
}  // namespace blazed::workloads
