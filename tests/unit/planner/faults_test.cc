// Probes that fail to run: what is tried again, how often, and what is never taken for an answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/planner/settled_job.h"

namespace blazed::planner {
namespace {

Plan BuiltAs(const sim::Host& host, SessionId session, VariantId variant) {
  for (const Action& action : host.actions()) {
    const auto* build = std::get_if<BuildVariant>(&action);
    if (build == nullptr || build->session != session || build->variant != variant) continue;
    return build->plan;
  }
  return {};
}

// Whether two sessions were lent pairs of the race that is open.
bool BothRace(const sim::Host& host) {
  std::set<SessionId> lent;
  for (const Action& action : host.actions()) {
    if (std::holds_alternative<KeepRace>(action)) lent.clear();
    const auto* run = std::get_if<RunPairs>(&action);
    if (run != nullptr && run->champion != run->challenger) lent.insert(run->session);
  }
  return lent.size() == 2;
}

// The host of a job whose probes of the good plan fail to run while `left` is above zero.
struct Faulty {
  explicit Faulty(uint64_t seed, TuningMemory memory = {}, double cost = -0.08)
      : table({0.02, cost, 0.02, 0.01}), host(&table, {}, {}, std::move(memory), seed) {
    host.bend = [this](EventBody& body) {
      auto* done = std::get_if<ProbeDone>(&body);
      if (done == nullptr || left == 0 || !Strikes(PlanOf(*done))) return true;
      --left;
      ++faults;
      faults_of_good += PlanOf(*done) == kGood ? 1 : 0;
      done->summary = {};
      done->summary.equivalence = Equivalence::kRejectedBroken;
      done->passed_batches = 0;
      return true;
    };
  }
  bool Strikes(const Plan& plan) const { return alone ? plan == kGood : HasGood(plan); }
  Plan PlanOf(const ProbeDone& done) const { return BuiltAs(host, done.session, done.variant); }
  SettlementRecord Stored() const {
    SettlementRecord record;
    record.id = 40;
    record.kind = SettlementKind::kReplicated;
    record.plan = kGood;
    record.champion_signature = table.Signature(kGood, 0);
    record.default_signature = table.Signature({}, 0);
    record.gain = {0.077, 0.07, 0.084};
    record.session = 900;
    return record;
  }
  sim::CostTable table;
  sim::Host host;
  uint32_t left = 0, faults = 0, faults_of_good = 0;
  bool alone = false;  // the good plan itself, and none that has its change with others
};

TuningMemory Remembering(const SettlementRecord& record) {
  TuningMemory memory;
  memory.settlement = record;
  return memory;
}

TEST(Faults, ASearchFindsThePlanWhoseFirstProbeFailedToRun) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Faulty job(seed);
    job.left = 1;
    job.alone = true;
    const SessionId s = job.host.Attach("job");
    ASSERT_TRUE(job.host.RunUntilEnd(s, 50000));
    EXPECT_EQ(job.faults, 1u);
    EXPECT_EQ(job.host.outcome(s)->outcome, Outcome::kSettled) << seed;
    EXPECT_EQ(job.host.in_use(s), kGood) << seed;
  }
}

TEST(Faults, ASettledPlanIsServedWhoseFirstProbeFailedToRunInThatProcess) {
  Faulty job(7, Remembering(Faulty(7).Stored()));
  job.left = 1;
  const SessionId s = job.host.Attach("next");
  ASSERT_TRUE(job.host.RunUntilEnd(s, 5000));
  EXPECT_EQ(job.faults, 1u);
  EXPECT_EQ(job.host.demotions(), 0u);
  EXPECT_EQ(job.host.outcome(s)->outcome, Outcome::kServed);
  EXPECT_EQ(job.host.in_use(s), kGood);
}

// Three processes each of which had one bad moment say nothing of a plan that ran between.
TEST(Faults, APlanThatRanInBetweenIsNotGivenUpForFaultsOfOtherDays) {
  Faulty job(8, Remembering(Faulty(8).Stored()));
  for (int day = 0; day < 5; ++day) {
    job.left = 1;
    const SessionId s = job.host.Attach("day " + std::to_string(day));
    ASSERT_TRUE(job.host.RunUntilEnd(s, 5000));
    EXPECT_EQ(job.host.in_use(s), kGood) << "day " << day;
    job.host.Detach(s);
  }
  EXPECT_EQ(job.faults, 5u);
  EXPECT_EQ(job.host.demotions(), 0u);
}

TEST(Faults, ASettledPlanStaysForOtherProcessesWhereItFailedTwiceAndIsGivenUpAtTheThird) {
  Faulty job(8, Remembering(Faulty(8).Stored()));
  job.left = 2;
  const SessionId first = job.host.Attach("first");
  ASSERT_TRUE(job.host.RunUntilEnd(first, 5000));
  EXPECT_EQ(job.faults, 2u);
  EXPECT_EQ(job.host.demotions(), 0u);
  EXPECT_EQ(job.host.outcome(first)->outcome, Outcome::kUndecided);
  EXPECT_TRUE(job.host.in_use(first).empty());
  EXPECT_EQ(job.host.plans().at(kGood).reason,
            "its probe failed to run, where the default's run did not; that was so 2 times, and "
            "another process may try it again");
  job.left = 1;
  const SessionId next = job.host.Attach("next");
  job.host.RunUntilEnd(next, 50000);
  EXPECT_EQ(job.host.demotions(), 1u);
  EXPECT_EQ(job.host.plans().at(kGood).verdict, Verdict::kRejectedBroken);
  EXPECT_EQ(job.faults, 3u);
}

TEST(Faults, APlanThatNeverRunsIsTriedTwiceAndHoldsUpNoAnswer) {
  for (uint64_t seed = 9; seed < 14; ++seed) {
    Faulty job(seed);
    job.left = 1000;
    job.host.on_live = [](SessionId, VariantId, const Plan& plan) { EXPECT_FALSE(HasGood(plan)); };
    const SessionId s = job.host.Attach("job");
    ASSERT_TRUE(job.host.RunUntilEnd(s, 50000));
    EXPECT_EQ(job.faults_of_good, 2u) << seed;
    EXPECT_EQ(job.host.plans().at(kGood).verdict, Verdict::kInconclusive);
    EXPECT_EQ(job.host.outcome(s)->outcome, Outcome::kNoWinner) << job.host.outcome(s)->reason;
  }
}

TEST(Faults, NoWinnerIsNoAnswerWhereAPlanThatPairsSpeakForCouldNotRun) {
  Faulty job(10);
  const SessionId first = job.host.Attach("first");
  // It leaves once the plan has won a race.
  for (int i = 0; i < 5000 && job.host.races().empty(); ++i) job.host.RunUntilEnd(first, 1);
  ASSERT_FALSE(job.host.races().empty());
  ASSERT_FALSE(job.host.settlement().has_value());
  ASSERT_GT(job.host.plans().at(kGood).pairs, 0u);
  job.host.Detach(first);
  job.left = 1000;
  const SessionId second = job.host.Attach("second");
  ASSERT_TRUE(job.host.RunUntilEnd(second, 50000));
  EXPECT_EQ(job.host.outcome(second)->outcome, Outcome::kUndecided);
  EXPECT_EQ(job.host.outcome(second)->reason,
            "a plan that pairs speak for failed to run in its probes here");
  job.left = 0;
  const SessionId third = job.host.Attach("third");
  ASSERT_TRUE(job.host.RunUntilEnd(third, 50000));
  EXPECT_EQ(job.host.outcome(third)->outcome, Outcome::kSettled);
  EXPECT_EQ(job.host.in_use(third), kGood);
}

// Each fault of its candidates may be one of the machine's, and so may the one of the plan in use.
TEST(Faults, NoWinnerIsNoAnswerWhereThePlanInUseFailedToRunWithAllOthers) {
  int in_use = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    sim::CostTable table(std::vector<double>(40, 0.002));
    table.SetCost(1, 1, -0.08);
    sim::Host host(&table, {}, {}, {}, seed);
    const SessionId s = host.Attach("job");
    bool won = false;
    host.bend = [&](EventBody& body) {
      auto* done = std::get_if<ProbeDone>(&body);
      won = won || !host.in_use(s).empty();
      if (done == nullptr || !won) return true;
      in_use += BuiltAs(host, s, done->variant) == host.in_use(s) ? 1 : 0;
      done->summary = {};
      done->summary.equivalence = Equivalence::kRejectedBroken;
      done->passed_batches = 0;
      return true;
    };
    ASSERT_TRUE(host.RunUntilEnd(s, 50000));
    ASSERT_TRUE(won) << seed;
    EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided) << seed;
    EXPECT_EQ(host.outcome(s)->reason,
              "a plan that pairs speak for failed to run in its probes here")
        << seed;
  }
  EXPECT_GT(in_use, 0) << "no plan in use was probed again";
}

// It ran at last, and computed other numbers: that holds in every process.
TEST(Faults, AnotherProcessForgivesNoPlanThatWasRejectedBehindItsFault) {
  const Plan both = {{0, 1}, {1, 1}};
  const sim::CostTable table({-0.05, -0.08, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 3);
  uint32_t probes = 0;
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done == nullptr || BuiltAs(host, done->session, done->variant) != both) return true;
    done->summary = {};
    done->summary.equivalence =
        probes++ == 0 ? Equivalence::kRejectedBroken : Equivalence::kRejectedDifferent;
    done->passed_batches = 0;
    return true;
  };
  const SessionId first = host.Attach("first");
  for (int i = 0; i < 5000 && probes < 2; ++i) host.RunUntilEnd(first, 1);
  ASSERT_EQ(probes, 2u);
  ASSERT_FALSE(host.settlement().has_value());
  host.Detach(first);
  const SessionId second = host.Attach("second");
  ASSERT_TRUE(host.RunUntilEnd(second, 50000));
  EXPECT_EQ(probes, 2u) << "built and probed again";
}

TEST(Faults, WhoTakesTheSearchOverTriesThePlanThatFailedToRunBefore) {
  const Plan both = {{0, 1}, {1, 1}};
  const sim::CostTable table({-0.05, -0.08, 0.02, 0.01});
  int taken_over = 0, tried = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    sim::Host host(&table, {}, {}, {}, seed);
    const SessionId first = host.Attach("first", Mode::kTune, "GPU-0");
    const SessionId second = host.Attach("second", Mode::kTune, "GPU-1");
    uint32_t faults = 0;
    host.bend = [&](EventBody& body) {
      auto* done = std::get_if<ProbeDone>(&body);
      if (done == nullptr || done->session != first) return true;
      if (BuiltAs(host, first, done->variant) != both) return true;
      ++faults;
      done->summary = {};
      done->summary.equivalence = Equivalence::kRejectedBroken;
      done->passed_batches = 0;
      return true;
    };
    for (int i = 0; i < 60000 && !(faults == 2 && BothRace(host)); ++i) {
      if (host.RunUntilEnd(first, 1)) break;
    }
    if (faults < 2 || host.outcome(first)) continue;
    ++taken_over;
    host.Detach(first);
    ASSERT_TRUE(host.RunUntilEnd(second, 50000));
    tried += std::any_of(host.actions().begin(), host.actions().end(), [&](const Action& action) {
      const auto* build = std::get_if<BuildVariant>(&action);
      return build != nullptr && build->session == second && build->plan == both;
    });
  }
  EXPECT_GT(taken_over, 0);
  EXPECT_GT(tried, 0) << "of " << taken_over;
}

// In service the plan stands down here at once, whatever the probe failed by.
TEST(Faults, OneInServiceStandsThePlanDownHereAndDemotesNothing) {
  Settled job(4);
  bool failed = false;
  job.host.bend = [&](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done == nullptr || failed) return true;
    failed = true;
    done->summary = {};
    done->summary.equivalence = Equivalence::kRejectedBroken;
    return true;
  };
  job.host.Serve(job.session, 1000);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(job.host.in_use(job.session).empty());
  EXPECT_EQ(job.host.demotions(), 0u);
  const SessionId next = job.host.Attach("next");
  ASSERT_TRUE(job.host.RunUntilEnd(next, 5000));
  EXPECT_EQ(job.host.in_use(next), kGood);
}

}  // namespace
}  // namespace blazed::planner
