// What the configuration says about sessions. Owned by the control strand; a reload replaces it as
// a whole.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "daemon/planner/tuning.h"
#include "daemon/planner/types.h"

namespace blazed::session {

enum class Pause { kOff, kOn };

struct Options {
  uint32_t sessions_per_user = 128;
  absl::Duration resume_grace = absl::Seconds(20);
  absl::Duration device_turn = absl::Seconds(120);
  Pause pause = Pause::kOff;
  planner::Mode max_mode = planner::Mode::kTune;
  planner::TuningConfig tuning;
  bool operator==(const Options&) const = default;
};

}  // namespace blazed::session
