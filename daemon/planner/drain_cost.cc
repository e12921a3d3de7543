#include "daemon/planner/drain_cost.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/samples.h"
#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

// Of the median, as of a race's estimate.
double ErrorOf(const std::vector<double>& times) {
  const double middle = Median(times);
  std::vector<double> sizes;
  for (double time : times) sizes.push_back(std::fabs(time - middle));
  return 1.2533 * 1.4826 * Median(sizes) / std::sqrt(static_cast<double>(times.size()));
}

}  // namespace

void DrainCost::Learn(const UnitShape& unit, const std::vector<PairSample>& pairs) {
  std::vector<double>& times = lengths_[unit.timed];
  for (const PairSample& pair : pairs) {
    if (pair.excluded || pair.aborted) continue;
    times.push_back(pair.champion_ns * unit.timed);
    times.push_back(pair.challenger_ns * unit.timed);
  }
}

bool DrainCost::SawOtherThan(const UnitShape& unit) const {
  if (unit.timed < 2) return true;
  return std::any_of(lengths_.begin(), lengths_.end(),
                     [&](const auto& length) { return length.first != unit.timed; });
}

std::optional<DrainCost::Fill> DrainCost::Measured() const {
  if (lengths_.size() < 2) return std::nullopt;
  const auto& [few, of_few] = *lengths_.begin();
  const auto& [many, of_many] = *lengths_.rbegin();
  if (of_few.empty() || of_many.empty()) return std::nullopt;
  Fill fill;
  fill.step_ns = (Median(of_many) - Median(of_few)) / (many - few);
  fill.point_ns = std::max(0.0, Median(of_few) - fill.step_ns * few);
  const double back = static_cast<double>(few) / (many - few);  // as many steps as were measured
  fill.error_ns = std::hypot((1 + back) * ErrorOf(of_few), back * ErrorOf(of_many));
  return fill;
}

double DrainCost::OwedNs(double step_ns) const {
  const auto waits = static_cast<double>(waits_owed_ns_);
  const std::optional<Fill> fill = Measured();
  if (!fill && !(step_ns > 0)) return waits;
  return std::min(points_owed_ * (fill ? fill->point_ns : step_ns), waits);
}

uint64_t DrainCost::Charge(const UnitShape& unit, uint64_t units, uint64_t waits_ns, bool noise,
                           double step_ns) {
  // A client's numbers are hostile: no lease waits longer than the ledger takes.
  waits_owed_ns_ += std::min(waits_ns, kLongestUnitNs);
  // Warm steps end at a drained point of their own.
  points_owed_ += static_cast<double>(units) * (unit.warm > 0 ? 2 : 1);
  if (noise && unit.timed > 1 && !Measured()) return 0;
  const double cost = OwedNs(step_ns);
  points_owed_ = 0;
  waits_owed_ns_ = 0;
  return static_cast<uint64_t>(cost);
}

}  // namespace blazed::planner
