// Plans that were demoted and may be the faster ones again.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/planner/settled_job.h"

namespace blazed::planner {
namespace {

struct Demoted : Settled {
  explicit Demoted(uint64_t seed) : Settled(seed, {0.02, -0.4, 0.02, 0.01}) {
    live.SetCost(1, 1, 0.3);
    host.Serve(session, 3000);
    host.RunUntilEnd(session, 50000);
  }
  // What became of looks at the plan, oldest first.
  std::vector<RaceOutcome> Looks() const {
    std::vector<RaceOutcome> outcomes;
    for (const RaceRecord& race : host.races()) {
      const bool look = race.kind == RaceKind::kDrift && race.champion.empty();
      if (look) outcomes.push_back(race.outcome);
    }
    return outcomes;
  }
};

TEST(Returning, TakesADemotedPlanBackWhenItIsTheFasterOneAgain) {
  for (const uint64_t seed : {3, 4, 5, 6}) {
    Demoted job(seed);
    ASSERT_EQ(job.host.demotions(), 1u) << "seed " << seed;
    ASSERT_EQ(job.host.settlement()->kind, SettlementKind::kNoWinner) << "seed " << seed;
    job.host.Serve(job.session, 4000);
    ASSERT_GE(job.Looks().size(), 2u) << "seed " << seed;
    for (const RaceOutcome look : job.Looks()) EXPECT_EQ(look, RaceOutcome::kLost);
    EXPECT_TRUE(job.host.in_use(job.session).empty()) << "seed " << seed;
    EXPECT_GE(job.host.drift()->gap_steps, 1000u) << "seed " << seed;
    const size_t races = job.host.races().size();
    job.live.SetCost(1, 1, -0.4);
    job.host.Serve(job.session, 10000);
    EXPECT_EQ(job.host.settlement()->kind, SettlementKind::kInJob) << "seed " << seed;
    EXPECT_TRUE(HasGood(job.host.in_use(job.session))) << "seed " << seed;
    EXPECT_EQ(job.host.demotions(), 1u) << "seed " << seed;
    bool replicated = false;
    for (size_t i = races; i < job.host.races().size(); ++i) {
      const RaceRecord& race = job.host.races()[i];
      replicated |= race.kind == RaceKind::kReplication && race.outcome == RaceOutcome::kWon;
    }
    EXPECT_TRUE(replicated) << "a look accepts nothing, seed " << seed;
  }
}

TEST(Returning, LooksAtADemotedPlanAtWideningGaps) {
  Demoted job(5);
  const size_t looks = job.Looks().size();
  const uint64_t builds = job.host.builds();
  job.host.Serve(job.session, 100000);
  EXPECT_GE(job.Looks().size(), looks + 5);
  EXPECT_LE(job.Looks().size(), looks + 14);
  EXPECT_EQ(job.host.drift()->gap_steps, 16000u);
  EXPECT_EQ(job.host.builds() - builds, job.Looks().size() - looks) << "one for each";
  EXPECT_TRUE(job.host.in_use(job.session).empty());
}

TEST(Returning, LooksAtADemotedPlanBehindARestartAsWell) {
  Demoted job(6);
  job.host.Serve(job.session, 2000);
  const size_t looks = job.Looks().size();
  job.host.RestartDaemon(sim::Restart::kKilled);
  job.live.SetCost(1, 1, -0.4);
  job.host.Serve(job.session, 20000);
  EXPECT_GT(job.Looks().size(), looks);
  EXPECT_TRUE(HasGood(job.host.in_use(job.session)));
}

// The daemon that demoted it was gone before the search behind that had its answer.
TEST(Returning, LooksAtAPlanThatAnEarlierDaemonDemoted) {
  for (const auto how : {sim::Restart::kKilled, sim::Restart::kStopped}) {
    Settled job(6, {0.02, -0.4, 0.02, 0.01});
    job.live.SetCost(1, 1, 0.3);
    job.host.bend = [&](EventBody&) { return job.host.demotions() == 0; };
    job.host.Serve(job.session, 3000);
    ASSERT_EQ(job.host.demotions(), 1u);
    ASSERT_FALSE(job.host.settlement().has_value());
    job.host.bend = nullptr;
    job.host.RestartDaemon(how);
    ASSERT_TRUE(job.host.RunUntilEnd(job.session, 50000));
    ASSERT_EQ(job.host.settlement()->kind, SettlementKind::kNoWinner);
    job.live.SetCost(1, 1, -0.4);
    job.host.Serve(job.session, 20000);
    EXPECT_TRUE(HasGood(job.host.in_use(job.session)));
  }
}

TEST(Returning, LooksAtNothingWhereNothingWasDemoted) {
  const sim::CostTable table({0.02, 0.05, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 7);
  const SessionId session = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(session, 50000));
  ASSERT_EQ(host.settlement()->kind, SettlementKind::kNoWinner);
  const size_t before = host.actions().size();
  host.Serve(session, 40000);
  for (size_t i = before; i < host.actions().size(); ++i) {
    EXPECT_FALSE(std::holds_alternative<RunPairs>(host.actions()[i]));
    EXPECT_FALSE(std::holds_alternative<KeepDriftTimer>(host.actions()[i]));
  }
}

}  // namespace
}  // namespace blazed::planner
