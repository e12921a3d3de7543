#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "client/trainer/demo/child_process.h"
#include "client/trainer/demo/demo_options.h"
#include "client/trainer/demo/private_daemon.h"
#include "client/trainer/demo/private_place.h"
#include "client/trainer/report/merge_reports.h"
#include "tests/unit/trainer/sample_report.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;

ChildCommand Shell(const std::string& script, const std::string& log = "") {
  ChildCommand command;
  command.arguments = {"/bin/sh", "-c", script};
  command.log = log;
  return command;
}

TEST(ChildProcess, GivesTheExitCodeAndKeepsTheOutput) {
  const TempFolder folder;
  auto child = ChildProcess::Start(Shell("echo out; echo err >&2; exit 3", folder.At("log")));
  ASSERT_TRUE(child.ok()) << child.status();
  ASSERT_TRUE(child->EndedWithin(absl::Seconds(60)));
  EXPECT_EQ(child->exit_code(), 3);
  EXPECT_EQ(child->HowItEnded(), "exited with 3");
  EXPECT_EQ(TempFolder::Read(folder.At("log")), "out\nerr\n");
}

TEST(ChildProcess, AMissingProgramIsAnErrorOfStartAndNotOfTheChild) {
  ChildCommand command;
  command.arguments = {"/nonexistent/program"};
  const auto child = ChildProcess::Start(command);
  EXPECT_EQ(child.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(child.status().message()), HasSubstr("/nonexistent/program"));
}

TEST(ChildProcess, StopEndsAChildThatIgnoresTheRequest) {
  const TempFolder folder;
  auto child = ChildProcess::Start(
      Shell("trap '' TERM; echo ready; while :; do read x; done", folder.At("log")));
  ASSERT_TRUE(child.ok());
  child->Stop(absl::ZeroDuration());
  EXPECT_TRUE(child->EndedWithin(absl::ZeroDuration()));
  EXPECT_GE(child->exit_code(), 128);
}

TEST(ChildProcess, AChildThatIsForgottenIsStopped) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::Start(Shell("exec sleep 600"));
    ASSERT_TRUE(child.ok());
    pid = child->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(PrivatePlace, IsForItsUserAloneAndGoneAfterwards) {
  std::string path;
  {
    const auto place = PrivatePlace::Make(Keep::kNo);
    ASSERT_TRUE(place.ok());
    path = place->path();
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
    EXPECT_LT(place->At("blazed.sock").size(), 107u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PrivatePlace, StaysWhereItIsToBeKept) {
  std::string path;
  {
    const auto place = PrivatePlace::Make(Keep::kYes);
    ASSERT_TRUE(place.ok());
    path = place->path();
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove_all(path);
}

TEST(PrivateDaemon, ADaemonThatDiesAtOnceIsReportedWithTheEndOfItsLog) {
  const TempFolder folder;
  const std::string program = folder.Write("blazed", "#!/bin/sh\necho the disk is full\nexit 7\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto daemon = PrivateDaemon::Start(program, folder.path());
  ASSERT_FALSE(daemon.ok());
  EXPECT_THAT(std::string(daemon.status().message()), HasSubstr("exited with 7"));
  EXPECT_THAT(std::string(daemon.status().message()), HasSubstr("the disk is full"));
}

TEST(PrivateDaemon, ADaemonWithoutASocketIsNotWaitedForForEver) {
  const TempFolder folder;
  const std::string program = folder.Write("blazed", "#!/bin/sh\necho thinking\nexec sleep 600\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto daemon = PrivateDaemon::Start(program, folder.path(), absl::Milliseconds(100));
  EXPECT_EQ(daemon.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(DemoOptions, FlagsAndTheirLimits) {
  const auto parse = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "blaze-demo");
    return ParseDemoCommandLine(static_cast<int>(arguments.size()), arguments.data());
  };
  const auto good = parse({"--report", "r.json", "--keep", "--minutes", "1.5", "--text", "a"});
  ASSERT_TRUE(std::holds_alternative<DemoOptions>(good));
  EXPECT_EQ(std::get<DemoOptions>(good).keep, Keep::kYes);
  EXPECT_EQ(std::get<DemoOptions>(good).minutes, 1.5);
  for (const auto& arguments :
       std::vector<std::vector<const char*>>{{"--minutes", "0"},
                                             {"--minutes", "-1"},
                                             {"--minutes", "nan"},
                                             {"--steps", "0"},
                                             {"--seed", "-1"},
                                             {"--seed", "18446744073709551616"},
                                             {"--report", ""},
                                             {"--text", ""},
                                             {"--contract", "exact"},
                                             {"--unknown"}}) {
    const auto bad = parse(arguments);
    ASSERT_TRUE(std::holds_alternative<Ending>(bad)) << arguments[0];
    EXPECT_EQ(std::get<Ending>(bad).exit_code, 2);
    // A range of the library's own is written out with hundreds of digits.
    EXPECT_LT(std::get<Ending>(bad).to_stderr.size(), 200u) << std::get<Ending>(bad).to_stderr;
  }
}

TEST(MergeReports, KeepsTheHeadAndBothJobsInOrder) {
  Json second = SampleNoWinner();
  second["role"] = "second";
  const Json merged = MergeReports({SampleReport({SampleJob()}), SampleReport({second})});
  EXPECT_EQ(CheckReport(merged).message(), "");
  ASSERT_EQ(merged["jobs"].size(), 2u);
  EXPECT_EQ(merged["jobs"][1]["role"], "second");
  EXPECT_EQ(merged["workload"], "attention");
}

}  // namespace
}  // namespace blazed::trainer
