// What the configuration says about sessions. Owned by the control strand; a reload replaces it as
// a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "daemon/planner/tuning.h"
#include "daemon/planner/types.h"

namespace blazed::session {

enum class Pause { kOff, kOn };

struct Options {
  uint32_t sessions_per_user = 128;
  uint32_t attaches_per_minute = 600;  // of one user; each is a row that is kept for ever
  uint32_t windows_per_second = 1000;  // of one user; each is a row of a log
  uint32_t workloads_per_user = 4096;  // keys of tunings
  absl::Duration resume_grace = absl::Seconds(20);
  absl::Duration device_turn = absl::Seconds(120);
  Pause pause = Pause::kOff;
  planner::Mode max_mode = planner::Mode::kTune;
  planner::TuningConfig tuning;
  bool operator==(const Options&) const = default;
};

// A sum in another order often rounds to the same bits, so a single batch may not show it. Where
// every bit counts a variant is looked at on more batches: a difference seen on four batches of
// five stays unseen on eight once in 400,000.
inline constexpr uint32_t kBitwiseProbeBatches = 8;

// What the configuration says, for a session of this contract.
inline planner::TuningConfig TuningFor(const Options& options, planner::Contract contract) {
  planner::TuningConfig tuning = options.tuning;
  if (contract == planner::Contract::kBitwise) {
    tuning.probe_batches = std::max(tuning.probe_batches, kBitwiseProbeBatches);
  }
  return tuning;
}

}  // namespace blazed::session
