// From a lease's raw units to pairs. Numbers from a client are hostile until checked: a lease that
// contradicts its own schedule or carries impossible durations is no evidence at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/planner/event.h"
#include "daemon/planner/types.h"
#include "daemon/planner/unit.h"

namespace blazed::planner {

struct LeaseTerms {
  std::vector<bool> challenger_first;  // one a pair
  uint32_t timed_steps = 1;
  uint32_t warm_steps = 0;
};

// A client's clock is hostile: no step, build, probe or drain counts as more than an hour.
inline constexpr uint64_t kLongestUnitNs = uint64_t{3600} * 1'000'000'000;

// The completed pairs in order, or nullopt with the reason in `why`. A half pair at the end is left
// out unless its challenger was cut short (champion_ns is 0 then); a pair whose challenger was cut
// short is a loss, with all of its unit's time as the challenger's; a pair with any other flag on
// either unit is excluded as a whole, so that exclusion is the same function of both arms.
std::optional<std::vector<PairSample>> ReadLease(const LeaseTerms& terms, const LeaseDone& done,
                                                 std::string* why);

// What the lease showed of the host's queue.
QueueSigns SignsOf(const LeaseTerms& terms, const LeaseDone& done);

// An excluded pair may lack one: its ratio is no number then.
inline bool HasBothTimes(const PairSample& pair) {
  return pair.champion_ns > 0 && pair.challenger_ns > 0;
}

// ln(champion / challenger): positive where the challenger is faster.
double LogRatio(const PairSample& pair);

// What the search may learn from one lease: one outlier must not decide about an option. Two pairs
// that contradict each other leave a scale that says so; among three or more, each value is held
// near their median.
struct RobustRatios {
  std::vector<double> values;
  double scale = 0;
};
RobustRatios HoldOutliers(std::vector<double> ratios, double scale);

// `ratio`, no further from `expected` than noise of this scale reaches.
double HoldNear(double ratio, double expected, double scale);

}  // namespace blazed::planner
