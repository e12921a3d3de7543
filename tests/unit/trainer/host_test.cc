#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/trainer/host/describe.h"
#include "client/trainer/host/executor_host.h"
#include "kernels/cpu/fault.h"
#include "tests/unit/trainer/fake_shim.h"

namespace blazed::trainer {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A small workload, its host and a session with the fake.
class HostTest : public testing::Test {
 protected:
  explicit HostTest(const char* name = "chain") {
    workloads::WorkloadOptions sizes;
    sizes.width = 64;
    sizes.batch = 32;
    sizes.layers = 1;
    workload_ = *workloads::Make(name, sizes);
    batches_ = *workloads::MakeBatches(workload_, nullptr);
    host_ = *ExecutorHost::Create(workload_, batches_.get(), {},
                                  [this](const fuse::Plan&) { return build_options_; });
    session_ = Session(Session::DefaultOptions(), host_.get());
  }

  std::vector<blz_choice> CutEverything() const {
    std::vector<blz_choice> choices;
    for (const fuse::PlanEntry& entry : AllCut(workload_.space)) {
      choices.push_back(
          {static_cast<uint32_t>(entry.decision), static_cast<uint32_t>(entry.option)});
    }
    return choices;
  }

  FakeShim shim_;
  workloads::Workload workload_;
  std::unique_ptr<workloads::BatchSource> batches_;
  cpu::BuildOptions build_options_;
  std::unique_ptr<ExecutorHost> host_;
  Session session_;
};

class MlpHostTest : public HostTest {
 protected:
  MlpHostTest() : HostTest("mlp") {}
};

TEST_F(HostTest, AnotherPlanRunsAnotherSignatureAndTheSamePlanTheSameOne) {
  const blz_built first = shim_.Build(CutEverything());
  const blz_built second = shim_.Build(CutEverything());
  EXPECT_NE(first.handle, 0u);
  EXPECT_NE(first.handle, second.handle);
  EXPECT_EQ(shim_.Signature(first.handle), shim_.Signature(second.handle));
  EXPECT_NE(shim_.Signature(first.handle), shim_.Signature(0));
  EXPECT_EQ(ToDigest(host_->base().signature()), shim_.Signature(0));
  EXPECT_GT(first.peak_bytes, 0u);
}

TEST_F(HostTest, ADroppedHandleIsForgotten) {
  const blz_built built = shim_.Build(CutEverything());
  shim_.ops.drop(shim_.ops.user, built.handle);
  EXPECT_EQ(shim_.Signature(built.handle), Digest{});
  int result = 0;
  EXPECT_THAT(shim_.Probe(built.handle, &result), IsEmpty());
  EXPECT_NE(result, 0);
}

TEST_F(HostTest, AHandleNobodyBuiltRunsTheDefaultPlan) {
  ASSERT_TRUE(host_->LoadBatch(0).ok());
  const float expected = host_->Run(0).loss;
  auto batches = *workloads::MakeBatches(workload_, nullptr);
  auto other = *ExecutorHost::Create(workload_, batches.get(), {});
  EXPECT_EQ(other->Run(4711).loss, expected);
}

TEST_F(HostTest, APlanOutsideTheDecisionsFailsToBuildWithASentence) {
  int result = BLZ_BUILD_OK;
  const blz_built built = shim_.Build({{100'000, 1}}, &result);
  EXPECT_EQ(result, BLZ_BUILD_FAILED);
  EXPECT_STRNE(built.message, "");
  ASSERT_THAT(host_->builds(), SizeIs(1));
  EXPECT_FALSE(host_->builds()[0].failure.empty());
}

TEST_F(MlpHostTest, AProbeChangesNothingOfTheModel) {
  ASSERT_TRUE(host_->LoadBatch(3).ok());
  host_->Run(0);
  const graph::Hash128 before = host_->model().Digest();
  const blz_built built = shim_.Build(CutEverything());
  shim_.Probe(0);
  shim_.Probe(built.handle);
  EXPECT_EQ(host_->model().Digest(), before);
  host_->Run(0);
  EXPECT_NE(host_->model().Digest(), before);
}

TEST_F(MlpHostTest, ProbesOfTwoPlansShowTheSameTensorsBitForBit) {
  ASSERT_TRUE(host_->LoadBatch(0).ok());
  const blz_built built = shim_.Build(CutEverything());
  const std::vector<SeenTensor> expected = shim_.Probe(0);
  EXPECT_THAT(expected, Not(IsEmpty()));
  EXPECT_EQ(shim_.Probe(built.handle), expected);
  for (const SeenTensor& tensor : expected) {
    EXPECT_FALSE(tensor.name.empty());
    EXPECT_LE(tensor.name.size(), 96u);
    EXPECT_FALSE(tensor.bytes.empty()) << tensor.name;
  }
}

TEST_F(MlpHostTest, AWrongVariantShowsInItsProbe) {
  ASSERT_TRUE(host_->LoadBatch(0).ok());
  const cpu::Fault nan{cpu::Fault::Kind::kNan, {}};
  build_options_.fault = &nan;
  const blz_built built = shim_.Build(CutEverything());
  EXPECT_NE(shim_.Probe(built.handle), shim_.Probe(0));
}

TEST_F(MlpHostTest, StepsUnderChangingPlansTrainTheSameModelBitForBit) {
  const blz_built built = shim_.Build(CutEverything());
  auto batches = *workloads::MakeBatches(workload_, nullptr);
  auto plain = *ExecutorHost::Create(workload_, batches.get(), {});
  for (int64_t step = 0; step < 8; ++step) {
    ASSERT_TRUE(host_->LoadBatch(step).ok());
    ASSERT_TRUE(plain->LoadBatch(step).ok());
    EXPECT_EQ(host_->Run(step % 2 == 0 ? built.handle : 0).loss, plain->Run(0).loss);
  }
  EXPECT_EQ(host_->model().Digest(), plain->model().Digest());
}

TEST_F(MlpHostTest, TellsTheSessionEveryDecisionWithinTheLimits) {
  Describe(workload_, *host_, &session_);
  EXPECT_EQ(shim_.graph_name, "mlp");
  ASSERT_EQ(shim_.decisions.size(), workload_.space.decisions.size());
  EXPECT_THAT(shim_.decisions, Each(Not(IsEmpty())));
  for (const std::string& name : shim_.decisions) EXPECT_LE(name.size(), 96u);
  EXPECT_THAT(shim_.option_counts, Each(testing::Ge(2u)));
  EXPECT_EQ(shim_.default_signature, ToDigest(host_->base().signature()));
  EXPECT_GT(shim_.default_peak_bytes, 0u);
}

TEST_F(MlpHostTest, TellsThatThreadsAreTheWholeStepsAndBoundariesAGraphs) {
  workload_ = *workloads::Make("mlp", {.width = 64, .batch = 32, .layers = 1, .threads = 2});
  Describe(workload_, *host_, &session_);
  ASSERT_EQ(shim_.decision_graphs.size(), workload_.space.decisions.size());
  EXPECT_EQ(shim_.decisions.back(), "threads");
  EXPECT_EQ(shim_.decision_graphs.back(), 0u);
  shim_.decision_graphs.pop_back();
  EXPECT_THAT(shim_.decision_graphs, Each(1u));
}

TEST_F(MlpHostTest, NothingMergedCutsEveryBoundaryAndNoChoice) {
  const fuse::Plan plan = AllCut(workload_.space);
  EXPECT_EQ(static_cast<int>(plan.size()), BoundaryCount(workload_.space));
  EXPECT_TRUE(fuse::CheckPlan(workload_.space, plan).ok());
  EXPECT_THAT(PlanNames(workload_.space, plan), Each(testing::EndsWith("=cut")));
}

TEST_F(HostTest, TheEnvironmentStaysWithinTheShimsLimits) {
  const auto environment = DescribeEnvironment(1);
  EXPECT_LE(environment.size(), 32u);
  EXPECT_EQ(environment.at("threads"), "1");
  EXPECT_EQ(DescribeEnvironment(8).at("threads"), "8");
  for (const auto& [key, value] : environment) {
    EXPECT_LE(key.size(), 48u);
    EXPECT_FALSE(value.empty()) << key;
    EXPECT_LE(value.size(), 160u) << key;
  }
}

}  // namespace
}  // namespace blazed::trainer
