// Candidates that compute wrong numbers, offered to a real daemon: each gets its verdict, none
// touches the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "absl/strings/str_join.h"
#include "client/trainer/demo/private_daemon.h"
#include "client/trainer/host/describe.h"
#include "kernels/cpu/fault.h"
#include "tests/fakes/steady_steps.h"
#include "tests/system/trainer/training_run.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::AnyOf;

constexpr int64_t kFarTooManySteps = 50'000'000;

class WrongVariant : public testing::Test {
 protected:
  void SetUp() override {
    auto daemon = PrivateDaemon::Start(BLAZED_BIN_DIR "/blazed", folder_.path());
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_.emplace(*std::move(daemon));
  }

  // Trains under variants that all carry `fault`, until the daemon has an answer or has heard of a
  // variant that failed its probe; returns the job after comparing its training with one that met
  // no daemon.
  Json TrainUnder(const cpu::Fault& fault, TrainOptions options) {
    const fakes::SteadySteps steady;
    int64_t builds = 0;
    std::optional<int64_t> builds_before_rejection;
    JobHooks hooks;
    hooks.build_options = [&fault, &builds](const fuse::Plan&) {
      ++builds;
      cpu::BuildOptions build;
      build.fault = &fault;
      return build;
    };
    hooks.after_step = [&](int64_t, float) {
      const blz_status_info status = steady.Status();
      // The daemon orders nothing further before it has taken the answer to its last probe.
      const bool heard = builds_before_rejection && builds > *builds_before_rejection;
      if (status.rejected > 0 && !builds_before_rejection) builds_before_rejection = builds;
      return !heard && status.settled == 0;
    };
    const Json job = RunInProcess(options, hooks);
    options.steps = job["run"]["steps"];
    EXPECT_EQ(TrainingDigest(job), PlainDigest(options));
    EXPECT_THAT(job["plan"], testing::IsEmpty());
    EXPECT_EQ(job["settlement"] == "in_job", false) << job;
    return job;
  }

  // Candidates of a job by verdict; the default plan is no candidate.
  static std::map<std::string, int> Verdicts(const Json& job) {
    std::map<std::string, int> counts;
    for (const Json& plan : job["plans"]) {
      if (!plan["plan"].empty()) ++counts[plan["verdict"].get<std::string>()];
    }
    return counts;
  }

  TrainOptions Options() const { return SmallChain(daemon_->socket(), kFarTooManySteps); }

  // Row sums lie inside every normalisation and softmax here, so their order shows in thousands of
  // compared numbers. In the chain it shows in the loss alone, whose last bit may agree by chance.
  TrainOptions AttentionOptions() const {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "line " + std::to_string(i * i) + " of a text\n";
    TrainOptions options = SmallChain(daemon_->socket(), kFarTooManySteps);
    options.workload = "attention";
    options.width = 64;
    options.batch = 4;
    options.seq = 32;
    options.layers = 1;
    options.heads = 2;
    options.texts = {folder_.Write("text", text)};
    return options;
  }

  const TempFolder folder_;
  std::optional<PrivateDaemon> daemon_;
};

TEST_F(WrongVariant, APlanThatDropsItsLastTileIsRejectedAsDifferent) {
  const Json job = TrainUnder({cpu::Fault::Kind::kDropLastTile, {}}, Options());
  const auto verdicts = Verdicts(job);
  EXPECT_GT(verdicts.count("rejected_different"), 0u);
  for (const auto& [verdict, count] : verdicts) {
    EXPECT_THAT(verdict, AnyOf("rejected_different", "rejected_broken", "duplicate", "not_honoured",
                               "proposed", "inconclusive"))
        << count;
  }
}

TEST_F(WrongVariant, APlanThatYieldsNaNIsRejectedAsBroken) {
  const Json job = TrainUnder({cpu::Fault::Kind::kNan, {}}, Options());
  const auto verdicts = Verdicts(job);
  EXPECT_GT(verdicts.count("rejected_broken"), 0u);
  for (const auto& [verdict, count] : verdicts) {
    EXPECT_THAT(verdict, AnyOf("rejected_broken", "duplicate", "not_honoured", "proposed"))
        << count;
  }
}

TEST_F(WrongVariant, RestrictedToBitsAPlanThatReordersSumsIsRejected) {
  const Json job = TrainUnder({cpu::Fault::Kind::kReorderSums, {}}, AttentionOptions());
  const auto verdicts = Verdicts(job);
  EXPECT_GT(verdicts.count("rejected_different"), 0u);
  EXPECT_EQ(verdicts.count("champion"), 0u);
}

TEST_F(WrongVariant, APlanWithAnothersSignatureIsADuplicateAndNeverTimed) {
  // The default plan's own signature: what an executor that ignores requests would give.
  const auto workload = workloads::Make("chain", {.width = 256, .batch = 64});
  ASSERT_TRUE(workload.ok());
  const auto batches = workloads::MakeBatches(*workload, nullptr);
  const auto host = ExecutorHost::Create(*workload, batches->get(), {});
  ASSERT_TRUE(host.ok());
  const cpu::Fault fault{cpu::Fault::Kind::kForgeSignature, (*host)->base().signature()};
  const Json job = TrainUnder(fault, Options());
  const auto verdicts = Verdicts(job);
  EXPECT_GT(verdicts.count("not_honoured"), 0u);
  for (const auto& [verdict, count] : verdicts) {
    EXPECT_THAT(verdict, AnyOf("duplicate", "not_honoured", "proposed")) << count;
  }
  for (const Json& plan : job["plans"]) {
    if (!plan["plan"].empty()) {
      EXPECT_EQ(plan["pairs"].get<int64_t>(), 0) << plan;
    }
  }
}

}  // namespace
}  // namespace blazed::trainer
