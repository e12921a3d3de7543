// kill -9 of the daemon: no settlement that anybody was told of is lost. kill_rounds.h says how.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fault/daemon/kill_rounds.h"

namespace blazed::fault {
namespace {

uint64_t NumberOf(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// BLAZED_KILL_ROUNDS and BLAZED_KILL_SEED choose; `./run bench daemon_kill` does a hundred.
TEST(DaemonKill, LosesNoAnnouncedSettlement) {
  fakes::TemporaryFolder folder;
  KillOptions options;
  options.folder = folder.path();
  options.rounds = static_cast<int>(NumberOf("BLAZED_KILL_ROUNDS", 20));
  options.seed = NumberOf("BLAZED_KILL_SEED", std::random_device()());
  SCOPED_TRACE(absl::StrCat("seed ", options.seed));
  const KillReport report = RunKillRounds(options);
  EXPECT_TRUE(report.failures.empty()) << absl::StrJoin(report.failures, "\n");
  ASSERT_EQ(report.rounds.size(), static_cast<size_t>(options.rounds));
  EXPECT_GT(report.rounds.back().announced, 0u) << "nothing was announced, so nothing was shown";
}

}  // namespace
}  // namespace blazed::fault
