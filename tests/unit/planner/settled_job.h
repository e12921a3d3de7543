// Simulated jobs that the tests of what comes after a settlement share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "client/sim/host.h"

namespace blazed::planner {

// One way to launch the step saves half of it, and is looked for first. Each of the other changes
// saves or costs some percent, and takes as long to build.
inline sim::CostTable LaunchAndChoices(const std::vector<double>& others) {
  std::map<Plan, sim::ListedPlan> listed;
  for (uint32_t bits = 0; bits < (2u << others.size()); ++bits) {
    Plan plan;
    double cost = 0;
    for (uint32_t d = 0; d <= others.size(); ++d) {
      if ((bits >> d & 1) == 0) continue;
      plan.push_back({d, 1});
      cost += d == 0 ? -0.7 : others[d - 1];
    }
    listed[plan] = {cost, bits + 1};
  }
  return {std::vector<uint32_t>(others.size() + 1, 2), std::move(listed)};
}

inline const Plan kGood = {{1, 1}};

inline bool HasGood(const Plan& plan) {
  return std::find(plan.begin(), plan.end(), kGood[0]) != plan.end();
}

// Where the tests of checks begin: its good plan is settled.
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
