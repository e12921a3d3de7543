// After settling: drift checks at widening gaps, demotion, timers.
#include <gtest/gtest.h>

#include <algorithm>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

const Plan kGood = {{1, 1}};

struct Settled {
  explicit Settled(uint64_t seed)
      : table({0.02, -0.05, 0.02, 0.01}), live(table), host(&table, {}, {}, {}, seed) {
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

TEST(Service, ChecksASettledPlanAtWideningGaps) {
  Settled job(1);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  EXPECT_EQ(job.host.drift()->gap_steps, 250u);
  job.host.Serve(job.session, 40000);
  EXPECT_EQ(job.host.demotions(), 0u);
  EXPECT_GE(job.DriftRaces(), 4u);
  EXPECT_LE(job.DriftRaces(), 14u);
  EXPECT_GE(job.host.drift()->gap_steps, 8000u);
}

TEST(Service, ProbesThePlanBeforeEachBurst) {
  Settled job(2);
  const size_t before = job.host.actions().size();
  job.host.Serve(job.session, 3000);
  bool probed = false;
  for (size_t i = before; i < job.host.actions().size(); ++i) {
    if (std::holds_alternative<ProbeVariants>(job.host.actions()[i])) probed = true;
    if (std::holds_alternative<RunPairs>(job.host.actions()[i])) {
      EXPECT_TRUE(probed);
      EXPECT_EQ(std::get<RunPairs>(job.host.actions()[i]).warm_steps, 1u);
    }
  }
  EXPECT_TRUE(probed);
}

TEST(Service, DemotesAPlanThatBecameSlowerAndSearchesAgain) {
  Settled job(3);
  job.live.SetCost(1, 1, 0.03);
  job.host.Serve(job.session, 3000);
  EXPECT_EQ(job.host.demotions(), 1u);
  EXPECT_TRUE(job.host.in_use(job.session).empty());
  bool story = false, kept = false;
  for (const Action& action : job.host.actions()) {
    const auto* plan = std::get_if<KeepPlan>(&action);
    kept = kept || (plan != nullptr && plan->record.plan == kGood &&
                    plan->record.verdict == Verdict::kDemoted);
    const auto* demote = std::get_if<DemoteSettlement>(&action);
    story = story || (demote != nullptr && !demote->reason.empty());
  }
  EXPECT_TRUE(story);
  EXPECT_TRUE(kept);
  ASSERT_TRUE(job.host.RunUntilEnd(job.session, 50000));
  EXPECT_EQ(job.host.settlement()->kind, SettlementKind::kNoWinner);
}

TEST(Service, ChecksSoonerWhenItsStepTimesMove) {
  Settled job(8);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  job.host.Serve(job.session, 30000);
  ASSERT_EQ(job.host.demotions(), 0u);
  ASSERT_GE(job.host.drift()->gap_steps, 8000u);
  job.live.SetCost(1, 1, 0.10);
  const uint64_t flipped = job.host.steps();
  while (job.host.demotions() == 0 && job.host.steps() < flipped + 20000) {
    job.host.Serve(job.session, 256);
  }
  EXPECT_EQ(job.host.demotions(), 1u);
  EXPECT_LT(job.host.steps() - flipped, 6000u) << "found by the widening checks alone";
}

TEST(Service, StandsAPlanDownThatFailsAProbeInService) {
  Settled job(4);
  job.host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<ProbeDone>(&body)) {
      done->summary.equivalence = Equivalence::kRejectedBroken;
      done->summary.nan_variant = 3;
    }
    return true;
  };
  job.host.Serve(job.session, 1000);
  EXPECT_EQ(job.host.demotions(), 1u);
  EXPECT_TRUE(job.host.in_use(job.session).empty());
  EXPECT_EQ(job.host.plans().at(kGood).verdict, Verdict::kRejectedBroken);
}

TEST(Service, NeverDemotesAWinThatStays) {
  for (uint64_t seed = 20; seed < 26; ++seed) {
    Settled job(seed);
    if (job.host.in_use(job.session) != kGood) continue;
    job.host.Serve(job.session, 20000);
    EXPECT_EQ(job.host.demotions(), 0u) << "seed " << seed;
  }
}

TEST(Service, TakesTheTimerUpFromTheStoreAndStartsAQuarterBackInAnotherProcess) {
  Settled job(5);
  TuningMemory memory;
  memory.settlement = job.host.settlement();
  memory.drift = DriftTimer{memory.settlement->id, 16000, 12};
  sim::Host next(&job.table, {}, {}, memory, 6);
  const SessionId s = next.Attach("other");
  ASSERT_TRUE(next.RunUntilEnd(s, 500));
  ASSERT_TRUE(next.drift().has_value());
  EXPECT_EQ(next.drift()->gap_steps, 4000u);
  EXPECT_EQ(next.drift()->steps_left, 12u);
}

// Each job is served a window of 16 steps, far fewer than the shortest gap.
TEST(Service, ChecksAlsoWhereShortJobsFollowEachOther) {
  Settled job(9);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  for (int i = 0; i < 40; ++i) {
    const SessionId next = job.host.Attach(std::string("short").append(std::to_string(i)));
    ASSERT_TRUE(job.host.RunUntilEnd(next, 500));
    job.host.Serve(next, 100);
    job.host.Detach(next);
  }
  EXPECT_GE(job.DriftRaces(), 1u);
}

TEST(Service, CountsOnlyWindowsOfTheSettledPlan) {
  Settled job(7);
  const DriftTimer before = *job.host.drift();
  for (int i = 0; i < 100; ++i) {
    job.host.Send(
        ServiceWindow{job.session, kDefaultVariant, static_cast<uint64_t>(i) * 256, 16, 1000});
    job.host.Send(ServiceWindow{job.session + 50, 1, static_cast<uint64_t>(i) * 256, 16, 1000});
  }
  EXPECT_EQ(*job.host.drift(), before);
}

}  // namespace
}  // namespace blazed::planner
