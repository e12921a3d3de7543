// How daemons, sockets, stores and client processes begin and end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fakes/health_client.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class DaemonLifecycle : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  SyntheticHost Host() {
    SyntheticHost host;
    host.saving = {0.05, -0.04};
    return host;
  }
  TemporaryFolder folder_;
};

TEST_F(DaemonLifecycle, ASecondDaemonOnTheSocketLeavesTheFirstAlone) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  const Ended second = RunProgram(
      {DaemonBinary(), "--socket", daemon.socket(), "--state", folder_.path() + "/other"});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.output, HasSubstr("another blazed serves"));
  ScriptedShim shim(daemon.socket(), Host(), 1);
  EXPECT_TRUE(shim.Attach().ok());
}

TEST_F(DaemonLifecycle, ASecondDaemonOnTheStoreLeavesTheFirstAlone) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  const Ended second = RunProgram({DaemonBinary(), "--socket", folder_.path() + "/other.sock",
                                   "--state", folder_.path() + "/state"});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.output, HasSubstr("the store is in use"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/other.sock"));
  ScriptedShim shim(daemon.socket(), Host(), 1);
  EXPECT_TRUE(shim.Attach().ok());
}

TEST_F(DaemonLifecycle, ASocketThatAKilledDaemonLeftIsReplaced) {
  {
    PrivateDaemon daemon(folder_.path());
    ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
    daemon.Kill();
  }
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/blazed.sock"));
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), Host(), 1);
  EXPECT_TRUE(shim.Attach().ok());
}

TEST_F(DaemonLifecycle, ATermEndsStreamsInOrderAndLeavesNoSocket) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), Host(), 1);
  ASSERT_TRUE(shim.Attach().ok());
  daemon.Signal(SIGTERM);
  const grpc::Status status = shim.AwaitEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the daemon is stopping; attach again");
  EXPECT_EQ(daemon.Join(), 0) << daemon.Log();
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/blazed.sock"));
  EXPECT_TRUE(daemon.WaitLogged({"msg=stopped"}));
}

TEST_F(DaemonLifecycle, AKilledClientFreesItsSessionThoughItsChildHoldsTheSocket) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  int to_child[2], from_client[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(from_client), 0);
  const pid_t client = fork();
  if (client == 0) {
    dup2(to_child[0], STDIN_FILENO);
    dup2(from_client[1], STDOUT_FILENO);
    close(to_child[1]);
    close(from_client[0]);
    execl(BLAZED_SCRIPTED_SHIM, BLAZED_SCRIPTED_SHIM, daemon.socket().c_str(), "hang", nullptr);
    _exit(127);
  }
  close(to_child[0]);
  close(from_client[1]);
  char line[32];
  ASSERT_GT(read(from_client[0], line, sizeof(line)), 0) << daemon.Log();
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  // The forked child lives: it holds the pipe's end open that this test closes last.
  EXPECT_TRUE(daemon.WaitLogged({"session ended", "its process ended"})) << daemon.Log();
  // And the place is free: another workload gets its turn on the device.
  SyntheticHost other = Host();
  other.name = "other";
  ScriptedShim shim(daemon.socket(), other, 1);
  ASSERT_TRUE(shim.Attach().ok());
  ASSERT_TRUE(shim.Describe());
  EXPECT_TRUE(shim.PlayUntil([](const ScriptedResult& result) { return result.leases > 0; }));
  close(to_child[1]);
  close(from_client[0]);
}

TEST_F(DaemonLifecycle, HealthFollowsTheDaemonsLife) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  const auto channel = DialDaemon(daemon.socket());
  for (const char* name : {"", "blazed.v1.Tuner", "blazed.v1.History", "store"}) {
    EXPECT_EQ(CheckHealth(channel, name), Health::kServing) << name;
  }
  EXPECT_EQ(CheckHealth(channel, "nobody"), Health::kNoAnswer);
  HealthWatch watch(channel, "");
  EXPECT_EQ(watch.Next(), Health::kServing);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(watch.Next(), Health::kNotServing) << "health is told before calls end";
  EXPECT_EQ(daemon.Join(), 0) << daemon.Log();
}

TEST_F(DaemonLifecycle, AReloadTakesWhatItMayAndNamesTheRest) {
  const std::string config = Write("blazed.toml", "[policy]\nmax_mode = \"tune\"\n");
  PrivateDaemon daemon(folder_.path(), {"--config", config});
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), Host(), 1);
  ASSERT_TRUE(shim.Attach().ok());
  EXPECT_EQ(shim.result().mode, v1::MODE_TUNE);
  Write("blazed.toml", "[policy]\nmax_mode = \"observe\"\n[limits]\nmemory_mib = 64\n");
  daemon.Signal(SIGHUP);
  EXPECT_EQ(shim.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(daemon.WaitLogged({"takes effect at the next start", "key=limits.memory_mib"}));
  ASSERT_TRUE(shim.Attach().ok());
  EXPECT_EQ(shim.result().mode, v1::MODE_OBSERVE);
  EXPECT_THAT(shim.result().mode_reason, HasSubstr("policy.max_mode"));
  Write("blazed.toml", "[policy]\nmax_mod = \"tune\"\n");
  daemon.Signal(SIGHUP);
  EXPECT_TRUE(daemon.WaitLogged({"reload refused", "did you mean policy.max_mode?"}));
}

TEST_F(DaemonLifecycle, AJobOfManyRanksIsObserved) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), Host(), 1);
  shim.hello().set_world_size(4);
  ASSERT_TRUE(shim.Attach().ok());
  EXPECT_EQ(shim.result().mode, v1::MODE_OBSERVE);
  EXPECT_THAT(shim.result().mode_reason, HasSubstr("4 ranks"));
}

TEST_F(DaemonLifecycle, WrongUsageSaysWhatIsWrong) {
  const Ended flag = RunProgram({DaemonBinary(), "--frobnicate"});
  EXPECT_EQ(flag.exit_code, 2);
  EXPECT_THAT(flag.output, AllOf(StartsWith("blazed: "), HasSubstr("--frobnicate"),
                                 HasSubstr("blazed --help says")));
  for (const char* name : {"--config", "--socket", "--state"}) {
    const Ended empty = RunProgram({DaemonBinary(), "--check-config", name, ""});
    EXPECT_EQ(empty.exit_code, 2) << name;
    EXPECT_THAT(empty.output, AllOf(HasSubstr(name), HasSubstr("the value is empty")));
  }
  const Ended level = RunProgram({DaemonBinary(), "--log-level", "loud"});
  EXPECT_EQ(level.exit_code, 2);
  for (const char* share : {"-0.1", "1.5", "nan", "half", ""}) {
    const Ended budget = RunProgram({DaemonBinary(), "--check-config", "--budget-share", share});
    EXPECT_EQ(budget.exit_code, 2) << share;
    EXPECT_THAT(budget.output, HasSubstr("--budget-share")) << share;
  }
  const Ended missing = RunProgram({DaemonBinary(), "--config", "/nowhere.toml"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.output, HasSubstr("cannot read the configuration file /nowhere.toml"));
  const Ended path = RunProgram(
      {DaemonBinary(), "--socket", "relative.sock", "--state", folder_.path() + "/state"});
  EXPECT_EQ(path.exit_code, 2);
  EXPECT_THAT(path.output, HasSubstr("not absolute"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/state")) << "nothing is made for it";
}

// Whatever follows `config`, its two words are named; a flag that is none is named itself.
TEST_F(DaemonLifecycle, WrongUsageSaysTheNextMove) {
  const struct {
    std::vector<std::string> arguments;
    const char* says;
  } cases[] = {{{"config"}, "`blazed config default` prints every key"},
               {{"config", "x"}, "config knows no 'x'; `blazed config default`"},
               {{"config", "default", "x"}, "config knows no 'x'; `blazed config default`"},
               {{"x"}, "unknown verb or flag 'x'"},
               {{"--socket"}, "--socket needs a value"},
               {{"--log-level", "loud"}, "give debug, info, warning or error"},
               {{"--budget-share", "3"}, "give a number from 0 to 1"},
               {{"--max-builds", "1.5"}, "give a whole number from 0 to 1000000"}};
  for (const auto& wrong : cases) {
    std::vector<std::string> command = {DaemonBinary()};
    command.insert(command.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Ended ended = RunProgram(command);
    EXPECT_EQ(ended.exit_code, 2) << wrong.says;
    EXPECT_THAT(ended.output, AllOf(StartsWith("blazed: "), HasSubstr(wrong.says)));
    EXPECT_THAT(ended.output, Not(HasSubstr("A subcommand is required")));
  }
}

TEST_F(DaemonLifecycle, GoesByBlazedSocketAsItsClientsDo) {
  const std::string taken = Write("taken", ""), other = Write("other", "");
  const std::string config = Write("blazed.toml", "[daemon]\nsocket = \"" + other + "\"\n");
  const auto run = [&](const std::string& named, std::vector<std::string> more) {
    std::vector<std::string> command = {
        "/usr/bin/env", "BLAZED_SOCKET=" + named, DaemonBinary(), "--config", config,
        "--state",      folder_.path() + "/state"};
    command.insert(command.end(), more.begin(), more.end());
    return RunProgram(command);
  };
  const std::string no_socket = " exists and is no socket";
  EXPECT_THAT(run(taken, {}).output, HasSubstr(taken + no_socket)) << "over the file";
  EXPECT_THAT(run("unix://" + taken, {}).output, HasSubstr(taken + no_socket));
  EXPECT_THAT(run("", {}).output, HasSubstr(other + no_socket)) << "an empty one is none";
  EXPECT_THAT(run(taken, {"--socket", other}).output, HasSubstr(other + no_socket));
  for (const char* bad : {"unix:", "relative.sock"}) {
    const Ended ended = run(bad, {"--check-config"});
    EXPECT_EQ(ended.exit_code, 2) << bad;
    EXPECT_THAT(ended.output, HasSubstr("BLAZED_SOCKET")) << bad;
  }
}

TEST_F(DaemonLifecycle, AStateFolderIsPrivateHoweverItsPathIsWritten) {
  const std::string no_socket = Write("file", "");
  for (const char* name : {"one", "two/", "three/four/", "five//"}) {
    const std::string state = folder_.path() + "/" + name;
    const Ended ended = RunProgram({DaemonBinary(), "--socket", no_socket, "--state", state});
    EXPECT_EQ(ended.exit_code, 3) << ended.output;
    struct stat facts {};
    ASSERT_EQ(stat(state.c_str(), &facts), 0) << state;
    EXPECT_EQ(facts.st_mode & 0777, 0700u) << state;
  }
}

TEST_F(DaemonLifecycle, AStoreInMemoryMakesNoStateFolderAndTunesAllTheSame) {
  const std::string config = Write("blazed.toml", "[daemon]\nstore = \"memory\"\n");
  PrivateDaemon daemon(folder_.path(), {"--config", config});
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), Host(), 1);
  ASSERT_TRUE(shim.Attach().ok());
  EXPECT_EQ(shim.result().mode, v1::MODE_TUNE) << shim.result().mode_reason;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/state"));
}

TEST_F(DaemonLifecycle, CheckConfigRefusesASocketThatCanNeverBe) {
  for (const char* line : {"socket = \"rel/path\"", "admin_socket = \"rel\"",
                           "socket = \"/tmp/a\\nb\"", "socket = \"\"\"/tmp/a\nb\"\"\""}) {
    const std::string config = Write("socket.toml", absl::StrCat("[daemon]\n", line, "\n"));
    const Ended check = RunProgram({DaemonBinary(), "--check-config", "--config", config});
    EXPECT_EQ(check.exit_code, 2) << line << check.output;
    EXPECT_THAT(check.output, HasSubstr("; give a path ")) << line;
  }
}

TEST_F(DaemonLifecycle, AConfigurationThatIsNoPlainFileIsRefusedAndNeverWaitedFor) {
  const std::string fifo = folder_.path() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero"), folder_.path()}) {
    const Ended check = RunProgram({DaemonBinary(), "--check-config", "--config", path});
    EXPECT_EQ(check.exit_code, 2) << path;
    EXPECT_THAT(check.output, HasSubstr("give a plain file to --config"));
  }
  // One that becomes a FIFO under a running daemon.
  const std::string config = Write("blazed.toml", "[policy]\nmax_mode = \"tune\"\n");
  PrivateDaemon daemon(folder_.path(), {"--config", config});
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  std::filesystem::rename(fifo, config);
  daemon.Signal(SIGHUP);
  EXPECT_TRUE(daemon.WaitLogged({"reload refused", "no plain file"})) << daemon.Log();
  EXPECT_EQ(daemon.Stop(), 0) << daemon.Log();
}

TEST_F(DaemonLifecycle, WhatCannotBePrintedIsAFailure) {
  for (const char* words : {"--help", "--version", "config default", "config docs"}) {
    const Ended printed = RunProgram(
        {"/bin/sh", "-c", absl::StrCat("exec ", DaemonBinary(), " ", words, " > /dev/full")});
    EXPECT_EQ(printed.exit_code, 1) << words;
    EXPECT_THAT(printed.output, HasSubstr("cannot write to standard output")) << words;
  }
}

TEST_F(DaemonLifecycle, CheckConfigSaysWhetherAFileIsGood) {
  const std::string good = Write("good.toml", "[tuning]\nalpha = 0.01\n");
  const std::string bad = Write("bad.toml", "[tuning]\nalfa = 0.01\n");
  const Ended yes = RunProgram({DaemonBinary(), "--check-config", "--config", good});
  EXPECT_EQ(yes.exit_code, 0) << yes.output;
  const Ended no = RunProgram({DaemonBinary(), "--check-config", "--config", bad});
  EXPECT_EQ(no.exit_code, 2);
  EXPECT_THAT(no.output, HasSubstr("line 2: unknown key tuning.alfa; did you mean tuning.alpha?"));
}

TEST_F(DaemonLifecycle, ItsPrintedDefaultsAreAGoodConfiguration) {
  const Ended defaults = RunProgram({DaemonBinary(), "config", "default"});
  EXPECT_EQ(defaults.exit_code, 0);
  const std::string path = Write("defaults.toml", defaults.output);
  EXPECT_EQ(RunProgram({DaemonBinary(), "--check-config", "--config", path}).exit_code, 0);
}

TEST_F(DaemonLifecycle, HelpAndVersionEndWell) {
  const Ended help = RunProgram({DaemonBinary(), "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, HasSubstr("Exit codes:"));
  const Ended version = RunProgram({DaemonBinary(), "--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.output.find("blazed "), 0u);
}

}  // namespace
}  // namespace blazed::fakes
