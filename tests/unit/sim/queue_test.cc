// Whole searches of drawn workloads on hosts that run ahead of their device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "client/sim/whole_tunings.h"

namespace blazed::sim {
namespace {

constexpr double kHostNs = 5e6, kDeviceNs = 2e6;

struct Found {
  double saved = 0, best = 0;  // of a step in the long run
  bool settled = false;
};

// Plans change the host's time alone, which is what a step takes.
Found SearchHostSide(uint64_t seed) {
  TableSettings drawn = TableOf(12);
  const CostTable host_costs(drawn, seed);
  drawn.flat = true;
  const CostTable device(drawn, seed);
  HostSettings settings;
  settings.step_ns = kDeviceNs;
  settings.queue = QueueSettings{};
  settings.queue_host_ns = kHostNs;
  settings.queue_host_costs = &host_costs;
  Host host(&device, settings, {}, {}, seed);
  const planner::SessionId session = host.Attach("job");
  EXPECT_TRUE(host.RunUntilEnd(session, kLongestSteps)) << seed;
  Found found;
  found.saved = 1 - std::exp(host_costs.LogCost(host.in_use(session)));
  found.best = 1 - std::exp(host_costs.OracleLogCost(seed));
  const auto settlement = host.settlement();
  found.settled = settlement && settlement->kind != planner::SettlementKind::kNoWinner;
  if (found.settled) {
    EXPECT_GT(found.saved, 0) << seed;
    // The claim holds in the long run: its interval has the truth in it.
    EXPECT_GE(found.saved, settlement->gain.low - 0.1 * std::fabs(found.saved)) << seed;
    EXPECT_LE(found.saved, settlement->gain.high + 0.1 * std::fabs(found.saved)) << seed;
  }
  return found;
}

TEST(Queue, WholeSearchesFindAndSettleWhatTheHostSaves) {
  double saved = 0, best = 0;
  int with_win = 0, settled = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Found found = SearchHostSide(seed);
    saved += found.saved;
    best += found.best;
    with_win += found.best > 0.02;
    settled += found.settled;
  }
  EXPECT_GT(with_win, 4);
  EXPECT_GE(settled, with_win / 2);
  EXPECT_GE(saved, 0.7 * best);
}

}  // namespace
}  // namespace blazed::sim
