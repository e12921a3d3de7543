// kill -9 of the daemon at random moments under load, again and again on one store. After each kill
// everything that any client was told of a settlement must be there: in the files, in the answers
// of the next daemon, and in what that daemon serves.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace blazed::fault {

// When a daemon is killed.
enum class Moment { kStarting, kUnderLoad, kAfterAnnouncement };
inline constexpr std::array<const char*, 3> kMomentNames = {
    "killed while starting", "killed under load", "killed right after an announcement"};

struct KillOptions {
  int rounds = 20;  // kills
  uint64_t seed = 1;
  std::string folder;  // empty, and the caller's to remove
};

struct KillRound {
  Moment moment = Moment::kStarting;
  double delay_ms = 0;   // from start, from READY or from the announcement, by `moment`
  size_t announced = 0;  // settlements that clients of this store had been told of by then
  size_t lost = 0;       // of them, gone or changed
  size_t served = 0;     // jobs after the restart that were given a settled plan without pairs
};

struct KillReport {
  std::vector<KillRound> rounds;
  std::vector<double> ready_ms;       // of daemons that found a killed one's store: start to READY
  std::vector<std::string> failures;  // one sentence each; empty where everything held
};

// Prints nothing; stops at the first round that failed.
KillReport RunKillRounds(const KillOptions& options);

}  // namespace blazed::fault
