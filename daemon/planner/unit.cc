#include "daemon/planner/unit.h"

#include <algorithm>

namespace blazed::planner {
namespace {

constexpr uint64_t kLeaseSteps = 64;
constexpr uint32_t kFewestPairs = 4;
// A lease is over after ten minutes at most, and a pair has to fit in with room to spare.
constexpr double kLongestPairNs = 300e9;

}  // namespace

uint32_t PairsALease(const UnitShape& unit, uint32_t wanted) {
  const uint64_t fit = std::max<uint64_t>(kFewestPairs, kLeaseSteps / (2 * unit.steps()));
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, fit));
}

UnitRule::UnitRule(bool queued, uint64_t step_ns) : step_ns_(step_ns) {
  if (queued) timed_ = Fitting(kQueuedTimed);
}

UnitShape UnitRule::Shape(bool discard) const {
  if (!queued()) return {discard ? 1u : 0u, 1};
  const uint32_t warm = timed_ < kQueuedTimed ? 1 : kQueuedWarm;
  return discard ? UnitShape{2 * warm, std::max(timed_, settling_timed_)} : UnitShape{warm, timed_};
}

bool UnitRule::See(const QueueSigns& signs, bool noise) {
  const uint32_t said = signs.run_ahead.value_or(0);
  const bool long_wait =
      signs.drain_ns > kLongWait * signs.units_ns && signs.drain_ns > kLongPointNs * signs.points;
  long_waits_ = long_wait ? long_waits_ + 1 : 0;
  if (said > 0 || long_waits_ >= kLongWaits) {
    ran_ahead_ = true;
    // A number that no queue holds says that there is a queue, and nothing of its depth.
    return Grow(said > kMostRunAhead ? 0 : said);
  }
  const bool waits = noise && signs.run_ahead.has_value() && !long_wait && !ran_ahead_;
  if (!waits || !queued()) return false;
  timed_ = settling_timed_ = 1;
  return true;
}

void UnitRule::SeeFill(double fill_steps, double least_gain) {
  const bool longer = fill_steps > least_gain * timed_ && timed_ < kMostTimed;
  settling_timed_ = Fitting(longer ? 2 * timed_ : timed_);
}

bool UnitRule::Grow(uint32_t run_ahead) {
  uint32_t timed = kQueuedTimed;
  while (timed < run_ahead && timed < kMostTimed) timed *= 2;
  timed = std::max(timed_, Fitting(timed));
  if (timed == timed_) return false;
  timed_ = timed;
  return true;
}

// Steps of half a minute have nothing to fear from a queue, and ten of them would never be a lease.
uint32_t UnitRule::Fitting(uint32_t timed) const {
  const auto pair_ns = [this](uint32_t steps) {
    return 2.0 * (2 * kQueuedWarm + steps) * static_cast<double>(step_ns_);
  };
  while (timed > 2 && pair_ns(timed) > kLongestPairNs) timed /= 2;
  return timed;
}

}  // namespace blazed::planner
