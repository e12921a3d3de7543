#include "daemon/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "daemon/config/keys.h"

namespace blazed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string ErrorOf(const std::string& text) {
  absl::StatusOr<Config> config = ParseConfig(text, "test.toml");
  EXPECT_FALSE(config.ok()) << text;
  if (config.ok()) return "";
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

TEST(Config, AnEmptyFileIsTheDefaults) {
  absl::StatusOr<Config> config = ParseConfig("", "test.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config, Config());
}

TEST(Config, ItsPrintedDefaultsAreItsDefaults) {
  absl::StatusOr<Config> config = ParseConfig(DefaultConfigText(), "test.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config, Config());
}

TEST(Config, TakesEveryKind) {
  absl::StatusOr<Config> config = ParseConfig(R"([daemon]
socket = "/run/x.sock"
socket_mode = 0o660
store = "memory"
[limits]
idle_connection_s = 5
[policy]
pause = true
max_mode = "observe"
[tuning]
alpha = 0.01
max_window_s = 60
budget_share = 0.5
budget_allowance_s = 7
max_builds = 9
search = "greedy"
)",
                                              "test.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->socket, "/run/x.sock");
  EXPECT_EQ(config->socket_mode, 0660u);
  EXPECT_EQ(config->store, StoreKind::kMemory);
  EXPECT_EQ(config->rpc.idle_connection, absl::Seconds(5));
  EXPECT_EQ(config->session.pause, session::Pause::kOn);
  EXPECT_EQ(config->session.max_mode, planner::Mode::kObserve);
  EXPECT_EQ(config->session.tuning.alpha, 0.01);
  EXPECT_EQ(config->session.tuning.max_window, std::chrono::seconds(60));
  EXPECT_EQ(config->session.tuning.budget_share, 0.5);
  EXPECT_EQ(config->session.tuning.budget_allowance, std::chrono::seconds(7));
  EXPECT_EQ(config->session.tuning.max_builds, 9u);
  EXPECT_EQ(config->session.tuning.search, planner::SearchKind::kGreedy);
}

TEST(Config, AnUnknownKeyNamesItsLineAndTheNearestKey) {
  EXPECT_EQ(ErrorOf("[daemon]\n\nsockets = \"/x\"\n"),
            "test.toml line 3: unknown key daemon.sockets; did you mean daemon.socket?");
  EXPECT_EQ(ErrorOf("[tunning]\nalpha = 0.1\n"),
            "test.toml line 2: unknown key tunning.alpha; did you mean tuning.alpha?");
  EXPECT_THAT(ErrorOf("[nothing]\n"), HasSubstr("line 1: unknown key nothing"));
  EXPECT_THAT(ErrorOf("socket = \"/x\"\n"), HasSubstr("line 1: unknown key socket"));
}

TEST(Config, AWrongTypeNamesItsLine) {
  EXPECT_EQ(ErrorOf("[daemon]\nsocket = 4\n"),
            "test.toml line 2: daemon.socket must be a string in quotes");
  EXPECT_EQ(ErrorOf("[limits]\nmemory_mib = 1.5\n"),
            "test.toml line 2: limits.memory_mib must be a whole number");
  EXPECT_EQ(ErrorOf("[policy]\npause = 1\n"),
            "test.toml line 2: policy.pause must be true or false");
  EXPECT_EQ(ErrorOf("[tuning]\nalpha = \"x\"\n"),
            "test.toml line 2: tuning.alpha must be a number");
}

TEST(Config, AValueOutOfRangeNamesTheRange) {
  EXPECT_EQ(ErrorOf("[limits]\nmemory_mib = 1\n"),
            "test.toml line 2: limits.memory_mib must be between 16 and 4096; got 1");
  EXPECT_EQ(
      ErrorOf("[limits]\nmessage_bytes = 1048577\n"),
      "test.toml line 2: limits.message_bytes must be between 65536 and 1048576; got 1048577");
  EXPECT_EQ(ErrorOf("[policy]\nmax_mode = \"all\"\n"),
            "test.toml line 2: policy.max_mode must be one of observe, pinned, tune; got \"all\"");
  EXPECT_THAT(ErrorOf("[tuning]\nalpha = nan\n"), HasSubstr("tuning.alpha must be between"));
  EXPECT_THAT(ErrorOf("[tuning]\nalpha = inf\n"), HasSubstr("tuning.alpha must be between"));
  EXPECT_THAT(ErrorOf("[daemon]\nsocket = \"/" + std::string(200, 'x') + "\"\n"),
              HasSubstr("at most 107 bytes"));
}

TEST(Config, DeltasMustBeInOrder) {
  EXPECT_THAT(ErrorOf("[tuning]\ndelta0 = 0.01\ndelta1 = 0.005\n"),
              HasSubstr("tuning.delta1 must be larger than tuning.delta0"));
}

TEST(Config, JobsAndOperatorsHaveSocketsOfTheirOwn) {
  absl::StatusOr<Config> config =
      ParseConfig("[daemon]\nsocket = \"/x/s\"\nadmin_socket = \"/x/s\"\n", "test.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  const absl::Status status = ResolvePlaces(&*config);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a path of its own"));
  config->admin_socket = "/x/operators";
  EXPECT_TRUE(ResolvePlaces(&*config).ok());
}

TEST(Config, WhatIsNoTomlNamesItsLine) {
  EXPECT_THAT(ErrorOf("[daemon]\nsocket = \n"), HasSubstr("test.toml line 2: not TOML"));
}

TEST(Config, AMissingFileSaysWhatToDo) {
  absl::StatusOr<Config> config = LoadConfig("/nowhere/blazed.toml");
  EXPECT_EQ(config.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(config.status().message(),
            "cannot read the configuration file /nowhere/blazed.toml: No such file or directory; "
            "give a readable file to --config");
}

TEST(Config, AnEmptyFileOnDiskIsTheDefaults) {
  const std::string path = testing::TempDir() + "/empty.toml";
  { std::ofstream file(path, std::ios::trunc); }
  absl::StatusOr<Config> config = LoadConfig(path);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config, Config());
}

TEST(Config, WhatIsNoPlainFileSaysWhatToDoAndIsNeverWaitedFor) {
  const std::string fifo = testing::TempDir() + "/config.fifo";
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {testing::TempDir(), fifo, std::string("/dev/zero")}) {
    absl::StatusOr<Config> config = LoadConfig(path);
    EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(config.status().message()), HasSubstr("give a plain file to --config"));
  }
  unlink(fifo.c_str());
}

TEST(Config, AFileLongerThanAMebibyteIsRefused) {
  const std::string path = testing::TempDir() + "/long.toml";
  for (const size_t size : {size_t{1} << 20, (size_t{1} << 20) + 1}) {
    std::ofstream(path, std::ios::trunc) << std::string(size, '\n');
    EXPECT_EQ(LoadConfig(path).ok(), size == size_t{1} << 20) << size;
  }
  EXPECT_THAT(std::string(LoadConfig(path).status().message()), HasSubstr("longer than 1 MiB"));
}

TEST(Config, AKeyThatResemblesNoneGetsNoGuess) {
  for (const char* text : {"x = 1\n", "[tuning]\nwibble = 1\n", "[frobnicate]\nit = 1\n"}) {
    EXPECT_THAT(ErrorOf(text), AllOf(HasSubstr("`blazed config default` prints every key"),
                                     Not(HasSubstr("did you mean"))))
        << text;
  }
}

TEST(Config, AModeThatIsNotOctalSaysHowToWriteIt) {
  EXPECT_EQ(ErrorOf("[daemon]\nsocket_mode = 666\n"),
            "test.toml line 2: daemon.socket_mode must be written in octal, from 0o600 to 0o777; "
            "for rw-rw-rw- write 0o666");
}

TEST(Config, AReloadChangesOnlyWhatItMay) {
  Config running, loaded;
  running.socket = "/a";
  loaded.socket = "/b";
  loaded.session.tuning.alpha = 0.01;
  loaded.log_level = "debug";
  EXPECT_THAT(RestartKeys(running, loaded), ElementsAre("daemon.socket"));
  const Config merged = Reloaded(running, loaded);
  EXPECT_EQ(merged.socket, "/a");
  EXPECT_EQ(merged.session.tuning.alpha, 0.01);
  EXPECT_EQ(merged.log_level, "debug");
}

TEST(Config, ItsPageInTheDocsIsTrue) {
  std::ifstream file(std::string(BLAZED_SOURCE_DIR) + "/docs/config.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), ConfigDocumentation())
      << "write docs/config.md afresh with: blazed config docs > docs/config.md";
}

TEST(Config, EveryKeyHasASentenceAndAPlace) {
  for (const ConfigKey& key : ConfigKeys()) {
    EXPECT_FALSE(key.text.empty()) << FullName(key);
    EXPECT_LE(key.low, key.high) << FullName(key);
  }
}

}  // namespace
}  // namespace blazed
