// What exploring may cost a job, in wall time: an allowance at once, and a share of the job's wall
// time on top of it. Builds, probes, drains and regret are paid from it, drift checks included.
//
// A directive is asked for only where what it is expected to take fits. One that takes longer than
// that leaves the account overdrawn by the difference, and nothing is asked for until time has paid
// for it. What is out together covers ten times its expected cost (kTogether), so no more than one
// directive's surprise is ever overdrawn.
#pragma once

#include <optional>

#include "daemon/planner/tuning.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

// Nothing looks further ahead; sums of it stay in range.
inline constexpr Nanos kLongestJob = std::chrono::hours(24 * 3650);

class Budget {
 public:
  // Builds are asked for together only where the budget covers so many times what they are expected
  // to take; else one at a time.
  static constexpr double kTogether = 10;

  Budget() = default;  // allows nothing
  Budget(const TuningConfig& config, Moment since);

  // Nanoseconds of wall time. Less than zero where a plan's regret turns out smaller than it
  // looked.
  void Spend(double ns) { spent_ns_ += ns; }

  Nanos spent() const;
  Nanos Allowed(Moment now) const;
  // Whether `ns` more fit now.
  bool Covers(double ns, Moment now) const;
  // When they will; nullopt: never, because no time adds to it.
  std::optional<Moment> CoversAt(double ns, Moment now) const;

 private:
  double AllowedNs(Moment now) const;

  Moment since_{};
  double share_ = 0, allowance_ns_ = 0, spent_ns_ = 0;
};

}  // namespace blazed::planner
