// The same plan offered under many names: distinct signatures, equal cost. Nothing may settle.
#include <gtest/gtest.h>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

TEST(Names, SettleNothingInFiftyRuns) {
  int settled = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    sim::TableSettings settings;
    settings.boundaries = 12;
    settings.flat = true;
    const sim::CostTable table(settings, seed);
    sim::Host host(&table, {}, {}, {}, seed + 9000);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 50000)) << "seed " << seed + 9000;
    settled += host.outcome(s)->outcome == Outcome::kSettled ? 1 : 0;
    for (const RaceRecord& race : host.races()) {
      accepted += race.kind == RaceKind::kSearch && race.outcome == RaceOutcome::kWon ? 1 : 0;
    }
  }
  EXPECT_EQ(settled, 0) << "seeds 9000 to 9049";
  EXPECT_LE(accepted, 2) << "provisional accepts, seeds 9000 to 9049";
}

}  // namespace
}  // namespace blazed::planner
