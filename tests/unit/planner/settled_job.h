// A simulated job whose good plan is settled: where the tests of checks begin.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "client/sim/host.h"

namespace blazed::planner {

inline const Plan kGood = {{1, 1}};

inline bool HasGood(const Plan& plan) {
  return std::find(plan.begin(), plan.end(), kGood[0]) != plan.end();
}

struct Settled {
  explicit Settled(uint64_t seed, const std::vector<double>& costs = {0.02, -0.05, 0.02, 0.01})
      : table(costs), live(table), host(&table, {}, {}, {}, seed) {
    host.live_table = &live;
    session = host.Attach("job");
    host.RunUntilEnd(session, 50000);
  }
  uint64_t DriftRaces() const {
    return static_cast<uint64_t>(
        std::count_if(host.races().begin(), host.races().end(),
                      [](const RaceRecord& r) { return r.kind == RaceKind::kDrift; }));
  }
  sim::CostTable table, live;
  sim::Host host;
  SessionId session = 0;
};

}  // namespace blazed::planner
