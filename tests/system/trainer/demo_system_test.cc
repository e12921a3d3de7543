// blaze-demo as a user runs it: both jobs, one report, nothing left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "client/trainer/demo/child_process.h"
#include "client/trainer/report/job_report.h"
#include "client/trainer/stopwatch.h"
#include "tests/system/trainer/steady_programs.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Minutes(4);

class DemoRun : public testing::Test {
 protected:
  // Everything the demo makes lies in a folder of this test, so that what is left can be seen.
  void SetUp() override {
    unsetenv("XDG_RUNTIME_DIR");
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", place_.path().c_str(), 1);
  }
  void TearDown() override {
    if (before_) {
      setenv("TMPDIR", before_->c_str(), 1);
    } else {
      unsetenv("TMPDIR");
    }
  }

  absl::StatusOr<ChildProcess> Start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), BLAZED_BIN_DIR "/blaze-demo");
    ChildCommand command;
    command.arguments = std::move(arguments);
    command.log = folder_.At("log");
    command.group = ChildCommand::Group::kOwn;
    return ChildProcess::Start(command);
  }

  std::string Log() const { return TempFolder::Read(folder_.At("log")); }

  // Processes whose command line names the demo's place: its daemon and its jobs.
  int ProcessesLeft() const {
    int count = 0;
    std::error_code error;
    for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
         it.increment(error)) {
      const std::string line = TempFolder::Read(it->path().string() + "/cmdline");
      if (line.find(place_.path()) != std::string::npos) ++count;
    }
    return count;
  }

  void ExpectNothingLeft() const {
    EXPECT_EQ(ProcessesLeft(), 0);
    EXPECT_TRUE(std::filesystem::is_empty(place_.path()));
  }

  const TempFolder folder_;
  const TempFolder place_;
  std::optional<std::string> before_;
};

TEST_F(DemoRun, RunsBothJobsWritesOneReportAndLeavesNothing) {
  // By steady step times, so that the first job comes to its answer on any machine.
  const SteadyPrograms steady;
  const std::string path = folder_.At("R.json");
  auto demo = Start({"--workload", "chain", "--report", path});
  ASSERT_TRUE(demo.ok()) << demo.status();
  ASSERT_TRUE(demo->EndedWithin(kPatience)) << Log();
  ASSERT_EQ(demo->exit_code(), 0) << Log();
  const auto report = LoadReport(path);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ((*report)["jobs"].size(), 2u);
  const Json& first = (*report)["jobs"][0];
  const Json& second = (*report)["jobs"][1];
  EXPECT_EQ(first["role"], "first");
  EXPECT_EQ(second["role"], "second");
  EXPECT_THAT(Log(), HasSubstr("both jobs"));
  ExpectNothingLeft();
  EXPECT_EQ(first["outcome"], "settled") << Log();
  EXPECT_EQ(second["search_pairs"].get<int64_t>(), 0) << Log();
  EXPECT_EQ(second["plan"], first["plan"]);
}

TEST_F(DemoRun, InterruptedItEndsPolitelyReportsWhatItHasAndLeavesNothing) {
  const std::string path = folder_.At("R.json");
  auto demo = Start({"--workload", "chain", "--report", path});
  ASSERT_TRUE(demo.ok()) << demo.status();
  // Once the first job trains, its lines are in the log.
  const Stopwatch watch;
  while (Log().find("a step") == std::string::npos && watch.Elapsed() < kPatience) {
    ASSERT_FALSE(demo->EndedWithin(absl::Milliseconds(20))) << Log();
  }
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->EndedWithin(kPatience)) << Log();
  EXPECT_EQ(demo->exit_code(), 1);
  EXPECT_THAT(Log(), HasSubstr("interrupted"));
  const auto report = LoadReport(path);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ((*report)["jobs"][0]["run"]["stopped"], "signal");
  ExpectNothingLeft();
}

TEST_F(DemoRun, AnUnreadableTextIsOneSentenceAndAnError) {
  auto demo = Start({"--text", folder_.At("absent")});
  ASSERT_TRUE(demo.ok()) << demo.status();
  ASSERT_TRUE(demo->EndedWithin(kPatience));
  EXPECT_EQ(demo->exit_code(), 1);
  EXPECT_THAT(Log(), HasSubstr("cannot read the text"));
  ExpectNothingLeft();
}

TEST_F(DemoRun, WhatItsJobRefusesAsWrongUsageIsItsOwnWrongUsage) {
  auto demo = Start({"--workload", "nothing"});
  ASSERT_TRUE(demo.ok()) << demo.status();
  ASSERT_TRUE(demo->EndedWithin(kPatience));
  EXPECT_EQ(demo->exit_code(), 2);
  ExpectNothingLeft();
}

}  // namespace
}  // namespace blazed::trainer
