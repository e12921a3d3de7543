// Where time comes from. Only loops at the edge read it; everything deeper gets a moment as an
// argument. Thread-safe.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "daemon/planner/types.h"

namespace blazed {

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic since boot, suspend included (CLOCK_BOOTTIME): for leases, deadlines and spans. Never
  // steps back.
  virtual planner::Moment Now() const = 0;
  // Wall time in ns since 1970: a label for people, never compared.
  virtual int64_t WallNs() const = 0;
};

// The machine's clocks. Lives as long as the program.
const Clock& SystemClock();

inline absl::Duration ToAbsl(planner::Nanos span) { return absl::FromChrono(span); }
inline planner::Nanos ToNanos(absl::Duration span) { return absl::ToChronoNanoseconds(span); }

}  // namespace blazed
