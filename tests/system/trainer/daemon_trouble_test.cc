// A daemon that is absent, killed or stopped costs the job nothing but its tuning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "client/trainer/demo/private_daemon.h"
#include "tests/system/trainer/training_run.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kSteps = 3000;
constexpr int64_t kTroubleAt = 700;

class DaemonTrouble : public testing::Test {
 protected:
  void SetUp() override {
    auto daemon = PrivateDaemon::Start(BLAZED_BIN_DIR "/blazed", folder_.path());
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_.emplace(*std::move(daemon));
  }

  // Trains while `signal` meets the daemon in the middle.
  Json TrainThrough(int signal) {
    JobHooks hooks;
    hooks.after_step = [this, signal](int64_t step, float) {
      if (step == kTroubleAt) daemon_->process().Signal(signal);
      return true;
    };
    return RunInProcess(SmallChain(daemon_->socket(), kSteps), hooks);
  }

  const TempFolder folder_;
  std::optional<PrivateDaemon> daemon_;
};

TEST_F(DaemonTrouble, ATunedJobTrainsTheSameModelBitForBit) {
  const Json job = RunInProcess(SmallChain(daemon_->socket(), kSteps));
  EXPECT_EQ(job["run"]["shim_state"], "attached") << job["run"];
  EXPECT_GT(job["plans"].size(), 0u);
  EXPECT_EQ(TrainingDigest(job), PlainDigest(SmallChain("", kSteps)));
}

TEST_F(DaemonTrouble, AKilledDaemonEndsTheTuningAndNotTheTraining) {
  const Json job = TrainThrough(SIGKILL);
  EXPECT_EQ(job["run"]["steps"], kSteps);
  EXPECT_EQ(job["run"]["stopped"], "steps");
  EXPECT_THAT(job["run"]["shim_state"].get<std::string>(), Not("attached"));
  EXPECT_EQ(TrainingDigest(job), PlainDigest(SmallChain("", kSteps)));
}

TEST_F(DaemonTrouble, AStoppedDaemonStopsNobodyElse) {
  const Json job = TrainThrough(SIGSTOP);
  EXPECT_EQ(job["run"]["steps"], kSteps);
  EXPECT_EQ(TrainingDigest(job), PlainDigest(SmallChain("", kSteps)));
  daemon_->process().Signal(SIGKILL);
}

TEST_F(DaemonTrouble, ADaemonAskedToEndLeavesTheJobTraining) {
  const Json job = TrainThrough(SIGTERM);
  EXPECT_EQ(job["run"]["steps"], kSteps);
  EXPECT_EQ(TrainingDigest(job), PlainDigest(SmallChain("", kSteps)));
}

TEST(NoDaemon, TheJobTrainsAndSaysWhyNothingWasTuned) {
  const TempFolder folder;
  const TrainOptions options = SmallChain(folder.At("nobody"), 200);
  const Json job = RunInProcess(options);
  EXPECT_EQ(job["outcome"], "off");
  EXPECT_NE(job["reason"], "");
  EXPECT_EQ(TrainingDigest(job), PlainDigest(options));
}

}  // namespace
}  // namespace blazed::trainer
