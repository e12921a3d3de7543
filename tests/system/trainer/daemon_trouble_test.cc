// A daemon that is absent, killed or stopped costs the job nothing but its tuning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "client/trainer/demo/private_daemon.h"
#include "tests/fakes/steady_steps.h"
#include "tests/system/trainer/training_run.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kSteps = 3000;
constexpr int64_t kTroubleAt = 700;
constexpr int64_t kFarTooManySteps = 50'000'000;
constexpr int64_t kTriedBuilds = 8;
constexpr int64_t kStepsAfterTrials = 400;

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

class TunedTraining : public DaemonTrouble, public testing::WithParamInterface<const char*> {};

TEST_P(TunedTraining, IsThePlainTrainingBitForBit) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "line " + std::to_string(i * i) + " of a text\n";
  TrainOptions options = SmallChain(daemon_->socket(), kFarTooManySteps);
  options.workload = GetParam();
  options.width = 64;
  options.batch = 4;
  options.seq = 32;
  options.layers = 1;
  options.heads = 2;
  if (options.workload == "attention") options.texts = {folder_.Write("text", text)};
  // As long as it takes until plans were tried, so that the speed of the machine does not matter.
  int64_t builds = 0;
  int64_t last_step = options.steps;
  JobHooks hooks;
  hooks.build_options = [&builds](const fuse::Plan&) {
    ++builds;
    return cpu::BuildOptions{};
  };
  hooks.after_step = [&builds, &last_step](int64_t step, float) {
    if (builds >= kTriedBuilds) last_step = std::min(last_step, step + kStepsAfterTrials);
    return step < last_step;
  };
  const fakes::SteadySteps steady;
  const Json job = RunInProcess(options, hooks);
  EXPECT_GE(builds, kTriedBuilds) << job["reason"];
  options.steps = job["run"]["steps"];
  EXPECT_EQ(TrainingDigest(job), PlainDigest(options));
}

INSTANTIATE_TEST_SUITE_P(Workloads, TunedTraining, testing::Values("chain", "mlp", "attention"),
                         [](const auto& info) { return std::string(info.param); });

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

// Takes connections into its backlog and never says a word, as a stopped daemon does.
TEST(NoDaemon, OneThatTakesConnectionsAndStaysSilentIsAReasonToo) {
  const TempFolder folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.At("silent").copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  const TrainOptions options = SmallChain(folder.At("silent"), 200);
  const Json job = RunInProcess(options);
  close(listener);
  EXPECT_EQ(job["outcome"], "off");
  EXPECT_NE(job["reason"], "");
  EXPECT_NE(job["run"]["shim_reason"], "");
  EXPECT_EQ(TrainingDigest(job), PlainDigest(options));
}

}  // namespace
}  // namespace blazed::trainer
