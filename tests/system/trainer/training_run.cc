#include "tests/system/trainer/training_run.h"

#include <gtest/gtest.h>

namespace blazed::trainer {

TrainOptions SmallChain(const std::string& socket, int64_t steps) {
  TrainOptions options;
  options.workload = "chain";
  options.width = 256;
  options.batch = 64;
  options.steps = steps;
  options.contract = Contract::kBitwise;
  options.socket = socket;
  return options;
}

Json RunInProcess(const TrainOptions& options, const JobHooks& hooks) {
  Progress progress(
      Display::kPlain, [](absl::string_view) {}, [] { return 100; });
  const absl::StatusOr<Json> report = RunTrainingJob(options, &progress, hooks);
  if (!report.ok()) {
    ADD_FAILURE() << report.status();
    return Json::object();
  }
  EXPECT_EQ(CheckReport(*report).message(), "");
  return (*report)["jobs"][0];
}

std::string TrainingDigest(const Json& job) {
  if (!job.contains("run")) return "";
  return job["run"]["loss_digest"].get<std::string>() + " " +
         job["run"]["model_digest"].get<std::string>();
}

std::string PlainDigest(TrainOptions options) {
  options.plan = PlanMode::kOff;
  return TrainingDigest(RunInProcess(options));
}

}  // namespace blazed::trainer
