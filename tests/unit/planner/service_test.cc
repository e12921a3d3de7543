// After settling: drift checks at widening gaps, demotion, timers.
#include <gtest/gtest.h>

#include <algorithm>

#include "client/sim/host.h"
#include "daemon/planner/session_state.h"
#include "daemon/planner/tail_guard.h"
#include "tests/unit/planner/settled_job.h"

namespace blazed::planner {
namespace {

TEST(Service, ChecksASettledPlanAtWideningGaps) {
  Settled job(1);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  EXPECT_EQ(job.host.drift()->gap_steps, 250u);
  job.host.Serve(job.session, 40000);
  EXPECT_EQ(job.host.demotions(), 0u);
  EXPECT_GE(job.DriftRaces(), 4u);
  EXPECT_LE(job.DriftRaces(), 24u);  // the noise moves step times, so alarms call for some of them
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
    }
  }
  EXPECT_TRUE(probed);
}

// A warm step doubles what a check takes, so it is run only where a step depends on the one before.
TEST(Service, ChecksWithWarmStepsOnlyWhereCarryOverWasSeen) {
  for (const bool carry : {false, true}) {
    const sim::CostTable table({0.02, -0.08, 0.02, 0.01});
    TuningMemory memory;
    memory.settlement.emplace();
    memory.settlement->id = 40;
    memory.settlement->kind = SettlementKind::kReplicated;
    memory.settlement->plan = kGood;
    memory.settlement->champion_signature = table.Signature(kGood, 0);
    memory.settlement->default_signature = table.Signature({}, 0);
    memory.settlement->gain = {0.077, 0.07, 0.08};
    memory.settlement->carry = carry;
    sim::Host host(&table, {}, {}, memory, 3);
    const SessionId session = host.Attach("next");
    ASSERT_TRUE(host.RunUntilEnd(session, 5000));
    ASSERT_EQ(host.in_use(session), kGood);
    const size_t before = host.actions().size();
    host.Serve(session, 3000);
    size_t leases = 0;
    for (size_t i = before; i < host.actions().size(); ++i) {
      const auto* run = std::get_if<RunPairs>(&host.actions()[i]);
      if (run == nullptr) continue;
      ++leases;
      EXPECT_EQ(run->warm_steps, carry ? 1u : 0u);
    }
    EXPECT_GE(leases, 1u);
    ASSERT_FALSE(host.races().empty());
    EXPECT_EQ(host.races()[0].kind, RaceKind::kDrift);
    EXPECT_EQ(host.races()[0].warm_steps, carry ? 1u : 0u) << "its row says what ran";
  }
}

TEST(Service, ACheckWithoutACountedPairBoundsNothing) {
  Settled job(4);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  job.host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<LeaseDone>(&body)) {
      for (UnitTime& unit : done->units) unit.flags |= kUnitCheckpoint;
    }
    return true;
  };
  job.host.Serve(job.session, 3000);
  const RaceRecord& check = job.host.races().back();
  ASSERT_EQ(check.kind, RaceKind::kDrift);
  EXPECT_FALSE(check.pairs.empty());
  EXPECT_LT(check.effect.low, -1);
  EXPECT_GT(check.effect.high, 1);
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

// A plan that saved a third of a step costs a third by now. The search knew it so well that it
// would name it for race after race, each with a share of alpha that is gone then.
TEST(Service, NamesADemotedPlanForNoRaceWhereTheCheckShowedWhatItCosts) {
  for (const uint64_t seed : {3, 4, 5, 6}) {
    Settled job(seed, {0.02, -0.4, 0.02, 0.01});
    ASSERT_TRUE(HasGood(job.host.in_use(job.session))) << "seed " << seed;
    job.host.Serve(job.session, 2000);
    ASSERT_EQ(job.host.demotions(), 0u) << "seed " << seed;
    job.live.SetCost(1, 1, 0.3);
    job.host.Serve(job.session, 3000);
    ASSERT_EQ(job.host.demotions(), 1u) << "seed " << seed;
    const size_t races = job.host.races().size();
    ASSERT_TRUE(job.host.RunUntilEnd(job.session, 50000)) << "seed " << seed;
    EXPECT_EQ(job.host.settlement()->kind, SettlementKind::kNoWinner) << "seed " << seed;
    for (size_t i = races; i < job.host.races().size(); ++i) {
      EXPECT_FALSE(HasGood(job.host.races()[i].challenger)) << "seed " << seed;
    }
  }
}

// What a step of the default takes, and how loud the machine is, may be what changed.
TEST(Service, MeasuresTheNoiseAgainBehindADemotion) {
  Settled job(3, {0.02, -0.4, 0.02, 0.01});
  job.live.SetCost(1, 1, 0.3);
  job.host.Serve(job.session, 3000);
  ASSERT_TRUE(job.host.RunUntilEnd(job.session, 50000));
  bool demoted = false;
  size_t noise = 0;
  for (const Action& action : job.host.actions()) {
    demoted = demoted || std::holds_alternative<DemoteSettlement>(action);
    const auto* run = std::get_if<RunPairs>(&action);
    if (!demoted || run == nullptr) continue;
    if (run->challenger != run->champion) break;
    EXPECT_EQ(run->champion, kDefaultVariant);
    noise += run->challenger_first.size();
  }
  EXPECT_GE(noise, kForecastPairs);
  EXPECT_NEAR(job.host.settlement()->default_step_ns, 10e6, 0.5e6);
}

// A neighbour comes, and its core is gone; it goes, and the plan is worth as much as ever.
// Three of ten steps of the settled plan take three times as long: the typical one is as fast as
// ever.
TEST(Service, DemotesAPlanThatBeginsToHaveSlowSteps) {
  Settled job(3);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  Random random(4);
  job.host.bend = [&](EventBody& body) {
    auto* done = std::get_if<LeaseDone>(&body);
    if (done == nullptr) return true;
    const auto lease = std::find_if(job.host.actions().rbegin(), job.host.actions().rend(),
                                    [&](const Action& action) {
                                      const auto* run = std::get_if<RunPairs>(&action);
                                      return run != nullptr && run->lease == done->lease;
                                    });
    const RunPairs& run = std::get<RunPairs>(*lease);
    if (run.champion == run.challenger) return true;  // the default's own noise
    for (size_t i = 0; i < run.challenger_first.size(); ++i) {
      const bool plan_second = run.challenger_first[i] == (run.champion != kDefaultVariant);
      UnitTime& unit = done->units[2 * i + (plan_second ? 1 : 0)];
      if (random.Uniform() < 0.3) unit.host_ns *= 3;
    }
    return true;
  };
  job.host.Serve(job.session, 20000);
  EXPECT_EQ(job.host.demotions(), 1u);
  EXPECT_TRUE(job.host.in_use(job.session).empty());
  EXPECT_EQ(job.host.plans().at(kGood).verdict, Verdict::kDemoted);
  EXPECT_EQ(job.host.plans().at(kGood).reason.find(kTailReason), 0u)
      << job.host.plans().at(kGood).reason;
  ASSERT_TRUE(job.host.RunUntilEnd(job.session, 50000));
  EXPECT_EQ(job.host.settlement()->kind, SettlementKind::kNoWinner) << "named again";
  const size_t races = job.host.races().size();
  job.host.bend = nullptr;
  job.host.RestartDaemon(sim::Restart::kKilled);
  job.host.Serve(job.session, 20000);
  EXPECT_EQ(job.host.races().size(), races) << "the next daemon knows why";
  EXPECT_TRUE(job.host.in_use(job.session).empty());
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

// What one host cannot tell is no verdict on the plan: it stays settled for the others.
void ExpectStandsDownHereAlone(Settled& job) {
  EXPECT_EQ(job.host.demotions(), 0u);
  EXPECT_TRUE(job.host.in_use(job.session).empty());
  EXPECT_EQ(job.host.plans().at(kGood).verdict, Verdict::kChampion);
  EXPECT_EQ(job.host.outcome(job.session)->outcome, Outcome::kUndecided);
  EXPECT_EQ(job.host.tuning().phase(job.session), Phase::kStanding);
  job.host.bend = nullptr;
  const SessionId next = job.host.Attach("next");
  ASSERT_TRUE(job.host.RunUntilEnd(next, 500));
  EXPECT_EQ(job.host.in_use(next), kGood);
}

TEST(Service, StandsDownHereAloneWhereProbesStayInconclusive) {
  Settled job(4);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  job.host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<ProbeDone>(&body)) {
      done->summary.equivalence = Equivalence::kInconclusive;
    }
    return true;
  };
  job.host.Serve(job.session, 1000);
  ExpectStandsDownHereAlone(job);
}

TEST(Service, StandsDownHereAloneWhereTheHostAnswersNoProbe) {
  Settled job(4);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  job.host.bend = [](EventBody& body) { return !std::holds_alternative<ProbeDone>(body); };
  job.host.Serve(job.session, 1000);
  EXPECT_EQ(job.host.in_use(job.session), kGood) << "it may still answer";
  job.host.Pass(40000);  // of 10 ms
  job.host.Serve(job.session, 1);
  ExpectStandsDownHereAlone(job);
  EXPECT_EQ(job.host.outcome(job.session)->reason, "the host did not answer");
}

TEST(Service, CountsInconclusiveProbesOnlyInARow) {
  Settled job(4);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  int probes = 0;
  job.host.bend = [&](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done != nullptr && ++probes % 2 == 1) {
      done->summary.equivalence = Equivalence::kInconclusive;
    }
    return true;
  };
  job.host.Serve(job.session, 20000);
  EXPECT_GE(probes, 6);
  EXPECT_EQ(job.host.in_use(job.session), kGood);
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
  memory.settlement->session = 900;  // no other one has its id
  memory.drift = DriftTimer{memory.settlement->id, 16000, 12};
  sim::Host next(&job.table, {}, {}, memory, 6);
  const SessionId s = next.Attach("other");
  ASSERT_TRUE(next.RunUntilEnd(s, 500));
  ASSERT_TRUE(next.drift().has_value());
  EXPECT_EQ(next.drift()->gap_steps, 4000u);
  EXPECT_EQ(next.drift()->steps_left, 12u);
}

TEST(Service, KeepsTheTimerOfTheProcessThatSettledOverARestartOfTheDaemon) {
  Settled job(1);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  job.host.Serve(job.session, 20000);
  const DriftTimer before = *job.host.drift();
  ASSERT_GE(before.gap_steps, 2000u);
  job.host.RestartDaemon(sim::Restart::kStopped);
  ASSERT_TRUE(job.host.RunUntilEnd(job.session, 500));
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  EXPECT_EQ(*job.host.drift(), before);
}

// Each job is served a window of 16 steps, far fewer than the shortest gap.
TEST(Service, ChecksAlsoWhereShortJobsFollowEachOther) {
  Settled job(9);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  for (int i = 0; i < 40; ++i) {
    const SessionId next = job.host.Attach(std::string("short").append(std::to_string(i)));
    ASSERT_TRUE(job.host.RunUntilEnd(next, 500));
    job.host.Serve(next, 300);
    job.host.Detach(next);
  }
  EXPECT_GE(job.DriftRaces(), 1u);
}

bool Stood(const sim::Host& host, SessionId session) {
  for (const Action& action : host.actions()) {
    const auto* stand = std::get_if<Stand>(&action);
    if (stand != nullptr && stand->session == session && !stand->detail.empty()) return true;
  }
  return false;
}

TEST(Service, SaysSoWhereTheHostGoesBackToItsDefaultByItself) {
  Settled job(10);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  job.host.bend = [](EventBody& body) {
    if (auto* window = std::get_if<ServiceWindow>(&body)) window->variant = kDefaultVariant;
    return true;
  };
  job.host.Serve(job.session, 1000);
  EXPECT_EQ(job.host.outcome(job.session)->outcome, Outcome::kUndecided);
  EXPECT_EQ(job.host.outcome(job.session)->reason,
            "the host went back to its default plan by itself");
  EXPECT_EQ(job.host.tuning().phase(job.session), Phase::kStanding);
  EXPECT_TRUE(job.host.in_use(job.session).empty());
  EXPECT_TRUE(Stood(job.host, job.session));
  EXPECT_EQ(std::get<ReportProgress>(job.host.actions().back()).gain, 0);
  // The plan may run in the next process as it was settled.
  EXPECT_EQ(job.host.demotions(), 0u);
  job.host.bend = nullptr;
  const SessionId next = job.host.Attach("next");
  ASSERT_TRUE(job.host.RunUntilEnd(next, 500));
  EXPECT_EQ(job.host.in_use(next), kGood);
}

TEST(Service, ReadsNothingFromAWindowThatBeganBeforeThePlanWasAdopted) {
  Settled job(11);
  job.host.Send(ServiceWindow{job.session, kDefaultVariant, 0, 16, 1000});
  EXPECT_EQ(job.host.tuning().phase(job.session), Phase::kSettled);
  EXPECT_EQ(job.host.in_use(job.session), kGood);
}

// The refusal names the adopt that was answered long ago.
TEST(Service, DemotesWhatTheHostFindsWrongByItself) {
  for (const Refusal reason : {Refusal::kRejectedEarlier, Refusal::kNotProven}) {
    Settled job(12);
    Adopt last;
    for (const Action& action : job.host.actions()) {
      if (const auto* adopt = std::get_if<Adopt>(&action)) last = *adopt;
    }
    ASSERT_EQ(last.plan, kGood);
    job.host.Send(DirectiveRefused{job.session, last.adopt, last.variant, reason, "it broke"});
    const bool wrong = reason == Refusal::kRejectedEarlier;
    EXPECT_EQ(job.host.demotions(), wrong ? 1u : 0u);
    EXPECT_EQ(job.host.plans().at(kGood).verdict,
              wrong ? Verdict::kRejectedDifferent : Verdict::kChampion);
    if (!wrong) {
      EXPECT_EQ(job.host.outcome(job.session)->reason, "it broke");
      EXPECT_EQ(job.host.tuning().phase(job.session), Phase::kStanding);
    }
  }
}

// Makes pairs of a replication contradict each other, so that it ends inside the noise.
void Contradict(const sim::Host& host, LeaseDone& done) {
  RunPairs run;
  for (const Action& action : host.actions()) {
    if (const auto* last = std::get_if<RunPairs>(&action)) run = *last;
  }
  for (size_t i = 0; i < run.challenger_first.size(); ++i) {
    const size_t challenger = 2 * i + (run.challenger_first[i] ? 0 : 1);
    done.units[challenger].host_ns = i % 2 == 0 ? 9'000'000 : 11'000'000;
    done.units[challenger ^ 1].host_ns = 10'000'000;
  }
}

// A session that keeps its provisional champion has no settlement whose checks would find it.
TEST(Service, KeepsAProvisionalChampionAndProbesIt) {
  const sim::CostTable table({0.02, -0.05, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 13);
  SessionId s = 0;
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<LeaseDone>(&body);
    if (done != nullptr && host.tuning().phase(s) == Phase::kReplicate) Contradict(host, *done);
    return true;
  };
  s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  ASSERT_EQ(host.outcome(s)->outcome, Outcome::kUndecided) << host.outcome(s)->reason;
  ASSERT_EQ(host.in_use(s), kGood);
  const auto probes = [&host] {
    return std::count_if(host.actions().begin(), host.actions().end(),
                         [](const Action& a) { return std::holds_alternative<ProbeVariants>(a); });
  };
  const auto before = probes();
  host.Serve(s, 4000);
  EXPECT_GE(probes() - before, 2);
  EXPECT_LE(probes() - before, 5) << "the gap does not widen";
  EXPECT_EQ(host.in_use(s), kGood);
  host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<ProbeDone>(&body)) {
      done->summary.equivalence = Equivalence::kRejectedDifferent;
    }
    return true;
  };
  host.Serve(s, 10000);
  EXPECT_TRUE(host.in_use(s).empty());
  EXPECT_EQ(host.outcome(s)->reason, "a probe failed in service");
  EXPECT_EQ(host.tuning().phase(s), Phase::kStanding);
}

// The plan's signature changed under the check's own pairs: that is no verdict on it elsewhere.
TEST(Service, StandsDownWhereThePlanRunsAsSomethingElseInACheck) {
  Settled job(16);
  ASSERT_EQ(job.host.in_use(job.session), kGood);
  job.host.bend = [&](EventBody& body) {
    const auto* done = std::get_if<LeaseDone>(&body);
    if (done == nullptr) return true;
    VariantId in_use = kDefaultVariant;
    for (const Action& action : job.host.actions()) {
      if (const auto* adopt = std::get_if<Adopt>(&action)) in_use = adopt->variant;
    }
    body = DirectiveRefused{done->session, done->lease, in_use, Refusal::kNotProven, "it changed"};
    return true;
  };
  job.host.Serve(job.session, 2000);
  EXPECT_EQ(job.DriftRaces(), 1u) << "the check is not filed";
  EXPECT_EQ(job.host.demotions(), 0u);
  EXPECT_EQ(job.host.plans().at(kGood).verdict, Verdict::kChampion);
  EXPECT_EQ(job.host.outcome(job.session)->reason, "it changed");
  EXPECT_EQ(job.host.tuning().phase(job.session), Phase::kStanding);
  EXPECT_TRUE(job.host.in_use(job.session).empty());
}

struct Pinned : Settled {
  explicit Pinned(uint64_t seed) : Settled(seed) {
    host.Detach(session);
    pinned = host.Attach("pinned", Mode::kPinned);
    host.RunUntilEnd(pinned, 500);
    first = host.actions().size();
  }
  template <class A>
  int Count() const {
    int count = 0;
    for (size_t i = first; i < host.actions().size(); ++i) {
      count += std::holds_alternative<A>(host.actions()[i]) ? 1 : 0;
    }
    return count;
  }
  SessionId pinned = 0;
  size_t first = 0;
};

TEST(Service, ProbesAPinnedSessionWithoutPairs) {
  Pinned job(14);
  ASSERT_EQ(job.host.in_use(job.pinned), kGood);
  job.host.Serve(job.pinned, 9000);
  EXPECT_GE(job.Count<ProbeVariants>(), 3);
  EXPECT_LE(job.Count<ProbeVariants>(), 6) << "the gap does not widen";
  EXPECT_EQ(job.Count<RunPairs>(), 0);
  EXPECT_EQ(job.host.in_use(job.pinned), kGood);
  job.host.bend = [](EventBody& body) {
    if (auto* done = std::get_if<ProbeDone>(&body)) {
      done->summary.equivalence = Equivalence::kRejectedBroken;
      done->summary.nan_variant = 3;
    }
    return true;
  };
  job.host.Serve(job.pinned, 20000);
  EXPECT_EQ(job.host.demotions(), 1u);
  EXPECT_TRUE(job.host.in_use(job.pinned).empty());
}

// A host that has had enough of probes says nothing about its plan.
TEST(Service, KeepsThePlanWhereTheHostRefusesChecks) {
  Settled job(15);
  int asked = 0;
  job.host.bend = [&](EventBody& body) {
    const auto* done = std::get_if<ProbeDone>(&body);
    if (done == nullptr) return true;
    ++asked;
    body = DirectiveRefused{done->session, done->probe, 0, Refusal::kNotTuning, "frozen"};
    return true;
  };
  job.host.Serve(job.session, 3000);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(job.host.in_use(job.session), kGood);
  EXPECT_EQ(job.host.plans().at(kGood).verdict, Verdict::kChampion);
  EXPECT_EQ(job.host.outcome(job.session)->outcome, Outcome::kSettled);
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
