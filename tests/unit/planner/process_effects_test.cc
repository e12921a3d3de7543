#include "daemon/planner/process_effects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

SettlementRecord InJob(double low) {
  SettlementRecord record;
  record.kind = SettlementKind::kInJob;
  record.plan = {{0, 1}};
  record.gain = {low + 0.01, low, low + 0.02};
  return record;
}

// The bound is what it says: one search of 100 equal plans in a hundred has a luckier one.
TEST(LuckOfPlans, IsPassedByTheLuckiestPlanInOneSearchOfAHundred) {
  constexpr int kSearches = 4000, kPlans = 100;
  const double bound = LuckOfPlans(kPlans);
  Random random(5);
  int beyond = 0;
  for (int i = 0; i < kSearches; ++i) {
    double luckiest = 0;
    for (int j = 0; j < kPlans; ++j) {
      luckiest = std::max(luckiest, kProcessSpread * random.Normal());
    }
    beyond += luckiest > bound ? 1 : 0;
  }
  EXPECT_NEAR(beyond, kSearches * 0.01, 3 * std::sqrt(kSearches * 0.01)) << "seed 5";
}

TEST(LuckOfPlans, GrowsWithThePlansThatWereTried) {
  double last = 0;
  for (uint64_t plans : {0u, 10u, 100u, 4000u}) {
    EXPECT_GT(LuckOfPlans(plans), last);
    last = LuckOfPlans(plans);
  }
  EXPECT_DOUBLE_EQ(LuckOfPlans(0), LuckOfPlans(1));
}

TEST(AwaitsReplication, HoldsForAWinThatLuckMayExplain) {
  const double luck = 1 - std::exp(-LuckOfPlans(50));
  EXPECT_TRUE(AwaitsReplication(InJob(luck - 1e-6), 50));
  EXPECT_FALSE(AwaitsReplication(InJob(luck + 1e-6), 50));
  EXPECT_TRUE(AwaitsReplication(InJob(luck + 1e-6), 500)) << "more plans, more luck";
  EXPECT_TRUE(AwaitsReplication(InJob(std::nan("")), 50)) << "no number is no proof";
}

TEST(AwaitsReplication, EndsWithTheReplicationAndDoesNotConcernTheDefault) {
  SettlementRecord record = InJob(0);
  record.kind = SettlementKind::kReplicated;
  EXPECT_FALSE(AwaitsReplication(record, 50));
  EXPECT_EQ(AwaitsReplicationText(record, 50), "");
  record.kind = SettlementKind::kNoWinner;
  EXPECT_FALSE(AwaitsReplication(record, 50));
}

TEST(AwaitsReplication, SaysWhyForPeople) {
  EXPECT_EQ(AwaitsReplicationText(InJob(0.001), 84),
            "won in its own process; another one replicates it before adopting it, because the "
            "luckiest of 84 plans may be 1.1 % faster in one process alone");
}

TEST(WasMeasured, CountsPlansWithPairsAndNotTheDefault) {
  PlanRecord record;
  record.pairs = 4;
  EXPECT_FALSE(WasMeasured(record)) << "the default";
  record.plan = {{0, 1}};
  EXPECT_TRUE(WasMeasured(record));
  record.pairs = 0;
  EXPECT_FALSE(WasMeasured(record));
}

}  // namespace
}  // namespace blazed::planner
