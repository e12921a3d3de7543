// kill -9 of the daemon a hundred times under load, and what that costs: settlements lost (there
// must be none; the bench fails else), time to serve again, time until a shim is attached again.
// Prints {"what", "series"}. The rounds are those of tests/fault/daemon.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/daemon_kill/reattach.h"
#include "tests/bench/support/child_process.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fault/daemon/kill_rounds.h"

namespace blazed::bench {
namespace {

constexpr int kRounds = 100;
constexpr int kRestarts = 40;

nlohmann::json Series(const std::string& arm, const std::string& unit,
                      const std::vector<double>& values) {
  return {{"arm", arm}, {"unit", unit}, {"values", values}, {"workload", "synthetic"}};
}

// One row a moment: announced, lost, served, round by round.
void AddRounds(const fault::KillReport& report, nlohmann::json* series) {
  for (size_t moment = 0; moment < fault::kMomentNames.size(); ++moment) {
    std::vector<double> announced, lost;
    for (const fault::KillRound& round : report.rounds) {
      if (static_cast<size_t>(round.moment) != moment) continue;
      announced.push_back(static_cast<double>(round.announced));
      lost.push_back(static_cast<double>(round.lost));
    }
    if (announced.empty()) continue;
    const std::string arm = fault::kMomentNames[moment];
    series->push_back(Series(arm, "announced settlements looked for", announced));
    series->push_back(Series(arm, "announced settlements lost", lost));
  }
  std::vector<double> served;
  for (const fault::KillRound& round : report.rounds) {
    served.push_back(static_cast<double>(round.served));
  }
  series->push_back(
      Series("jobs after a restart", "served the settled plan without pairs", served));
  if (!report.ready_ms.empty()) {
    series->push_back(
        Series("daemon on a killed one's store, start to READY", "ms", report.ready_ms));
  }
}

int Run(int rounds, uint64_t seed) {
  fakes::TemporaryFolder folder, killed, stopped;
  std::fprintf(stderr, "daemon_kill_bench: %d rounds, seed %llu\n", rounds,
               static_cast<unsigned long long>(seed));
  fault::KillOptions options;
  options.rounds = rounds;
  options.seed = seed;
  options.folder = folder.path();
  const fault::KillReport report = fault::RunKillRounds(options);
  for (const std::string& failure : report.failures) {
    std::fprintf(stderr, "daemon_kill_bench: %s\n", failure.c_str());
  }
  if (!report.failures.empty()) return 1;
  const int restarts = std::min(rounds, kRestarts);
  nlohmann::json series = nlohmann::json::array();
  AddRounds(report, &series);
  series.push_back(Series("shim attached again after the daemon listens, killed", "ms",
                          ReattachTimes(killed.path(), Ending::kKilled, restarts)));
  series.push_back(Series("shim attached again after the daemon listens, stopped", "ms",
                          ReattachTimes(stopped.path(), Ending::kStopped, restarts)));
  const std::string what =
      "SIGKILL of the daemon at " + std::to_string(rounds) + " random moments under load (seed " +
      std::to_string(seed) +
      "): settlements that clients were told of, looked for in the files, the answers and the "
      "service of the next daemon; and restarts under a host of 1 ms steps";
  std::printf("%s\n", nlohmann::json({{"what", what}, {"series", series}}).dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::bench

int main(int argc, char** argv) {
  int rounds = blazed::bench::kRounds;
  uint64_t seed = std::random_device()();
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (argc % 2 == 1 && rounds > 0) {
    return blazed::bench::Guarded(argv[0], [&] { return blazed::bench::Run(rounds, seed); });
  }
  std::fprintf(stderr, "usage: daemon_kill_bench [--build FOLDER] [--rounds N] [--seed N]\n");
  return 2;
}
