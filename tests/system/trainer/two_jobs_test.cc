// The whole loop over real programs: a first job finds the answer, a second process of the same job
// is served from the store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "client/trainer/demo/child_process.h"
#include "client/trainer/demo/private_daemon.h"
#include "client/trainer/report/job_report.h"
#include "tests/system/trainer/steady_programs.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class TwoJobs : public testing::Test {
 protected:
  // Runs blaze-train to its end; its output is in log().
  int RunTrain(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), BLAZED_BIN_DIR "/blaze-train");
    ChildCommand command;
    command.arguments = std::move(arguments);
    command.log = log();
    auto child = ChildProcess::Start(command);
    EXPECT_TRUE(child.ok()) << child.status();
    EXPECT_TRUE(child->EndedWithin(absl::Minutes(4)));
    return child->exit_code();
  }

  // By steady step times, so that the answer does not hang on the machine.
  Json RunJob(const std::string& role, const std::string& socket) {
    const SteadyPrograms steady;
    const std::string report = folder_.At(role + ".json");
    const int code = RunTrain({"--workload", "chain",    "--width",  "256",      "--batch",
                               "64",         "--steps",  "50000000", "--until",  "settled",
                               "--contract", "bitwise",  "--role",   role,       "--job",
                               "test",       "--socket", socket,     "--report", report});
    EXPECT_EQ(code, 0) << TempFolder::Read(log());
    const auto loaded = LoadReport(report);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? (*loaded)["jobs"][0] : Json::object();
  }

  std::string log() const { return folder_.At("train.log"); }

  const TempFolder folder_;
};

TEST_F(TwoJobs, TheFirstFindsTheAnswerAndTheSecondIsServedWithoutASearch) {
  auto daemon = PrivateDaemon::Start(BLAZED_BIN_DIR "/blazed", folder_.path());
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  const Json first = RunJob("first", daemon->socket());
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(first["outcome"], "settled") << first["reason"];
  EXPECT_EQ(first["settlement"], "in_job");
  EXPECT_THAT(first["plan"], Not(IsEmpty()));
  EXPECT_THAT(first["plans"], Not(IsEmpty()));
  for (const Json& plan : first["plans"]) {
    EXPECT_NE(plan["verdict"], "") << plan;
    EXPECT_NE(plan["reason"], "") << plan;
  }
  EXPECT_GT(first["search_pairs"].get<int64_t>(), 0);
  EXPECT_TRUE(first["forecast"].is_object());

  const Json second = RunJob("second", daemon->socket());
  EXPECT_EQ(second["search_pairs"].get<int64_t>(), 0) << second;
  EXPECT_EQ(second["plan"], first["plan"]);
  EXPECT_EQ(second["outcome"], first["outcome"]);
  EXPECT_EQ(second["role"], "second");
  EXPECT_TRUE(daemon->Check().ok());
}

TEST_F(TwoJobs, ARealReportHoldsWhatItsPageDescribesAndNothingElse) {
  auto daemon = PrivateDaemon::Start(BLAZED_BIN_DIR "/blazed", folder_.path());
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  const std::string path = folder_.At("r.json");
  ASSERT_EQ(RunTrain({"--workload", "chain", "--width", "256", "--batch", "64", "--steps", "2000",
                      "--socket", daemon->socket(), "--report", path}),
            0);
  const auto report = LoadReport(path);
  ASSERT_TRUE(report.ok()) << report.status();
  const std::string page = TempFolder::Read(BLAZED_SOURCE_DIR "/docs/report.md");
  ASSERT_THAT(page, HasSubstr("# The report"));
  const auto described = [&page](const std::string& key) {
    return page.find(absl::StrCat("`", key, "`")) != std::string::npos;
  };
  for (const auto& [key, value] : report->items()) EXPECT_TRUE(described(key)) << key;
  for (const auto& [key, value] : (*report)["jobs"][0].items()) EXPECT_TRUE(described(key)) << key;
  for (const auto& [key, value] : (*report)["jobs"][0]["run"].items()) {
    EXPECT_TRUE(described(key)) << key;
  }
  for (const Json& plan : (*report)["jobs"][0]["plans"]) {
    EXPECT_TRUE(described(plan["verdict"])) << plan["verdict"];
    for (const auto& [key, value] : plan.items()) EXPECT_TRUE(described(key)) << key;
  }
}

TEST_F(TwoJobs, WrongUsageAndFailureEndWithTheirCodes) {
  EXPECT_EQ(RunTrain({"--help"}), 0);
  EXPECT_EQ(RunTrain({"--version"}), 0);
  EXPECT_EQ(RunTrain({"--frobnicate"}), 2);
  EXPECT_EQ(RunTrain({"--workload", "nothing"}), 2);
  EXPECT_EQ(RunTrain({"--device", "cuda"}), 1);
  EXPECT_EQ(RunTrain({"--workload", "attention", "--text", folder_.At("absent")}), 1);
  EXPECT_EQ(RunTrain({"--workload", "attention", "--text", folder_.path()}), 1);
  EXPECT_THAT(TempFolder::Read(log()), HasSubstr("no CUDA device engine"));
}

}  // namespace
}  // namespace blazed::trainer
