#include "daemon/planner/settling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

TEST(SessionSpread, IsThePriorWithoutSessions) {
  EXPECT_DOUBLE_EQ(SessionSpread({}), 0.002);
  EXPECT_DOUBLE_EQ(SessionSpread({{0.05, 0.001}}), 0.002);
}

TEST(SessionSpread, FollowsManySessionsThatDisagree) {
  Random random(9);
  std::vector<SessionEffect> sessions;
  for (int i = 0; i < 200; ++i) sessions.push_back({0.02 + 0.01 * random.Normal(), 0.001});
  EXPECT_NEAR(SessionSpread(sessions), 0.01, 0.002) << "seed 9";
}

TEST(SessionSpread, ShrinksWhereSessionsAgree) {
  std::vector<SessionEffect> sessions(50, {0.02, 0.001});
  EXPECT_LT(SessionSpread(sessions), 0.001);
}

TEST(SettlingTerms, AskForMoreThanTheSessionSpread) {
  TuningConfig config;
  EXPECT_DOUBLE_EQ(SettlingTerms(config, 0, 0.0075, 0.01, 1).delta0, 0.0025);
  EXPECT_DOUBLE_EQ(SettlingTerms(config, 0.002, 0.0075, 0.01, 1).delta0, 0.00328);
  const RaceTerms terms = SettlingTerms(config, 0.01, 0.0075, 0.01, 1);
  EXPECT_DOUBLE_EQ(terms.delta0, 0.0164);
  EXPECT_GT(terms.delta1, terms.delta0);
  EXPECT_TRUE(terms.discard);
  EXPECT_EQ(terms.kind, RaceKind::kReplication);
  EXPECT_LT(SettlingTerms(config, 0.01, 0.0075, 0.01, 3).alpha, terms.alpha);
}

TEST(BreakEven, IsTheExcessOverTheSavingOfAStep) {
  CostRecord cost;
  cost.regret = Nanos(100);
  cost.build = Nanos(200);
  cost.probe = Nanos(300);
  cost.drain = Nanos(400);
  EXPECT_DOUBLE_EQ(BreakEvenSteps(cost, 20, 10), 100);
  EXPECT_DOUBLE_EQ(BreakEvenSteps(cost, 10, 10), 0);
  EXPECT_DOUBLE_EQ(BreakEvenSteps(cost, 10, 20), 0);
}

TEST(SettleWinner, ClaimsWhatTheReplicationShowed) {
  RaceTerms terms;
  terms.least_pairs = 100;
  Race race(1, terms, {}, {{0, 1}}, Moment{});
  Random random(4);
  while (!race.ended()) {
    PairSample p;
    p.champion_ns = 1e7;
    p.challenger_ns = 1e7 * std::exp(-0.1 + 0.01 * random.Normal());
    race.Add(p, 0.01);
  }
  const SettlementRecord record = SettleWinner(race, SettlementKind::kInJob, {});
  EXPECT_EQ(record.plan, (Plan{{0, 1}}));
  EXPECT_NEAR(record.gain.estimate, 1 - std::exp(-0.1), 0.005);
  EXPECT_GT(record.gain.low, 0.05);
  EXPECT_LT(record.settled_step_ns, record.default_step_ns);
}

}  // namespace
}  // namespace blazed::planner
