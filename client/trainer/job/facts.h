#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "blazed/blazed.hpp"

namespace blazed::trainer {

// Why a run ended.
enum class Stopped {
  kSteps,
  kSettled,    // with a settlement, no winner included
  kUndecided,  // the search ended without one
  kSeconds,
  kSignal,
};

// What the trainer itself saw of one run.
struct RunFacts {
  int64_t steps = 0;
  Stopped stopped = Stopped::kSteps;
  bool settled_itself = false;  // a settlement of this job's own search was seen
  float first_loss = 0;
  double last_loss = 0;  // smoothed; 0 in the forward regime
  std::vector<std::pair<int64_t, double>> loss_curve;
  std::string loss_digest;   // equal where every loss was bit-equal
  std::string model_digest;  // equal where parameters and optimiser state are bit-equal
  absl::Duration wall;
  double base_step_ns = 0;    // of the plan under handle 0, observed before the first step
  double median_step_ns = 0;  // of the last steps
};

// What the shim said at the end, in the trainer's own memory.
struct SessionFacts {
  blz_state state = BLZ_STATE_OFF;
  blz_phase phase = BLZ_PHASE_NONE;
  bool attached = false;  // a daemon answered at some time
  bool settled = false;
  blz_settlement settlement = BLZ_SETTLEMENT_NONE;
  std::string reason;
  std::vector<std::string> plan;  // the champion's non-default options by name
  blz_status_info counters = {};  // numbers only; its pointers are cleared
  std::string daemon_report;      // JSON; empty where the daemon gave none
};

const char* NameOf(Stopped stopped);
const char* NameOf(blz_state state);
const char* NameOf(blz_phase phase);

}  // namespace blazed::trainer
