// What a drained point costs. Waiting there is no loss in itself, since the device works on
// meanwhile; what is lost is that the queue has to fill again. It is read off units of two
// lengths: a unit of k steps takes a + b k, and a is the cost of its two ends, which are one point
// for it and the next unit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "daemon/planner/types.h"
#include "daemon/planner/unit.h"

namespace blazed::planner {

class DrainCost {
 public:
  // One lease of the plan in use against itself.
  void Learn(const UnitShape& unit, const std::vector<PairSample>& pairs);
  // Whether units of another length than `unit` were run, or would be of no use.
  bool SawOtherThan(const UnitShape& unit) const;

  struct Fill {
    double point_ns = 0;  // cost of one drained point
    double error_ns = 0;  // standard error of it
    double step_ns = 0;   // without it
  };
  // From the medians of the shortest and of the longest units.
  std::optional<Fill> Measured() const;

  // Units have another shape from here on: what was measured is no guide. What is owed stays so.
  void ForgetLengths() { lengths_.clear(); }

  // What a lease of so many units cost that waited for `waits_ns`: that much at most. While
  // nothing is known a step stands for each point (`step_ns`; 0: not known, then the waits do),
  // since host and device wait for each other no longer; a lease of noise, which is what makes it
  // known, is charged with the next one.
  uint64_t Charge(const UnitShape& unit, uint64_t units, uint64_t waits_ns, bool noise,
                  double step_ns);
  // What leases of noise cost that are not charged yet, as far as it is known.
  double OwedNs(double step_ns) const;

 private:
  double points_owed_ = 0;
  uint64_t waits_owed_ns_ = 0;
  std::map<uint32_t, std::vector<double>> lengths_;  // units' times by their timed steps
};

}  // namespace blazed::planner
