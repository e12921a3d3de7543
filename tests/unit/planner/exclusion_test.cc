// Which flagged pairs count, and that a busy machine still lets work through.
#include "daemon/planner/exclusion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "client/sim/host.h"
#include "daemon/planner/race.h"

namespace blazed::planner {
namespace {

PairSample Flagged(uint32_t flags) {
  PairSample pair;
  pair.champion_ns = 100;
  pair.challenger_ns = 99;
  pair.flags = flags;
  pair.excluded = flags != 0;
  return pair;
}

std::vector<PairSample> Apply(Exclusion& exclusion, const std::vector<uint32_t>& flags) {
  std::vector<PairSample> pairs;
  for (uint32_t f : flags) pairs.push_back(Flagged(f));
  exclusion.Apply(pairs);
  return pairs;
}

double ExcludedShare(const std::vector<PairSample>& pairs) {
  double excluded = 0;
  for (const PairSample& pair : pairs) excluded += pair.excluded;
  return excluded / static_cast<double>(pairs.size());
}

TEST(Exclusion, LeavesOutWhatARareEventTouched) {
  Exclusion exclusion;
  std::vector<uint32_t> flags(100, 0);
  for (size_t i = 0; i < flags.size(); i += 4) flags[i] = kUnitNeighbour;
  const auto pairs = Apply(exclusion, flags);
  for (size_t i = 0; i < pairs.size(); ++i) EXPECT_EQ(pairs[i].excluded, i % 4 == 0) << i;
}

TEST(Exclusion, NeverLeavesOutMoreThanHalfForEventsOfTheMachine) {
  Random random(1);
  for (double share : {0.1, 0.4, 0.5, 0.6, 0.9, 1.0}) {
    for (uint32_t flag : {kUnitNeighbour, kUnitClockEvent, kUnitNeighbour | kUnitClockEvent}) {
      Exclusion exclusion;
      std::vector<uint32_t> flags;
      for (int i = 0; i < 4000; ++i) flags.push_back(random.Uniform() < share ? flag : 0);
      EXPECT_LE(ExcludedShare(Apply(exclusion, flags)), 0.5) << share;
    }
  }
}

TEST(Exclusion, CountsEveryPairOfAMachineThatIsAlwaysBusy) {
  Exclusion exclusion;
  const auto pairs = Apply(exclusion, std::vector<uint32_t>(100, kUnitNeighbour));
  EXPECT_TRUE(pairs[0].excluded);
  for (size_t i = 1; i < pairs.size(); ++i) EXPECT_FALSE(pairs[i].excluded) << i;
}

TEST(Exclusion, LeavesOutAgainOnceTheMachineIsQuiet) {
  Exclusion exclusion;
  Apply(exclusion, std::vector<uint32_t>(100, kUnitNeighbour));
  Apply(exclusion, std::vector<uint32_t>(Exclusion::kSize, 0));
  EXPECT_TRUE(Apply(exclusion, {kUnitNeighbour})[0].excluded);
}

TEST(Exclusion, NeverCountsAStepThatDidOtherWork) {
  Exclusion exclusion;
  for (uint32_t flag : {kUnitCheckpoint, kUnitEvaluation, kUnitProfiler, kUnitRecompile}) {
    Apply(exclusion, std::vector<uint32_t>(100, flag | kUnitNeighbour));
    EXPECT_TRUE(Apply(exclusion, {flag})[0].excluded) << flag;
    EXPECT_TRUE(Apply(exclusion, {flag | kUnitNeighbour})[0].excluded) << flag;
  }
}

// The same flags with the arms exchanged, and with other times: the same pairs go.
TEST(Exclusion, IsTheSameForBothArmsAndBlindToTimes) {
  Random random(2);
  Exclusion one, other;
  std::vector<PairSample> pairs, mirrored;
  for (int i = 0; i < 500; ++i) {
    PairSample pair = Flagged(random.Uniform() < 0.45 ? kUnitNeighbour : 0);
    pair.champion_ns = 100 + random.Uniform();
    PairSample mirror = pair;
    std::swap(mirror.champion_ns, mirror.challenger_ns);
    mirror.challenger_first = !pair.challenger_first;
    mirror.champion_ns *= 7;
    pairs.push_back(pair);
    mirrored.push_back(mirror);
  }
  one.Apply(pairs);
  other.Apply(mirrored);
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(pairs[i].excluded, mirrored[i].excluded) << i;
  }
}

TEST(Exclusion, IsSaidByReason) {
  EXPECT_EQ(ExcludedText({Flagged(0), Flagged(0)}), "");
  EXPECT_EQ(ExcludedText({Flagged(0), Flagged(kUnitNeighbour), Flagged(kUnitNeighbour),
                          Flagged(kUnitCheckpoint | kUnitNeighbour)}),
            "3 of 4 pairs left out: 1 checkpoint, 3 neighbour");
  Race race(1, {}, Plan{}, Plan{{0, 1}}, {});
  race.Add(Flagged(kUnitRecompile), 0.01);
  race.Abandon("the session ended");
  EXPECT_EQ(race.Record(1, {}).reason, "the session ended; 1 of 1 pair left out: 1 recompile");
}

// ---- whole tunings ----

struct Busy {
  uint64_t settled = 0, wrong = 0;
  double excluded = 0, pairs = 0;
};

// Ten tunings whose leases carry a neighbour's flag now and then, in steps that are as noisy.
Busy Tunings(double busy_share, const sim::CostTable& table) {
  Busy busy;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    sim::Host host(&table, {}, {}, {}, 400 + seed);
    host.bend = [&](EventBody& body) {
      auto* done = std::get_if<LeaseDone>(&body);
      if (done == nullptr || random.Uniform() >= busy_share) return true;
      for (UnitTime& unit : done->units) {
        unit.flags |= kUnitNeighbour;
        unit.host_ns = static_cast<uint64_t>(static_cast<double>(unit.host_ns) *
                                             std::exp(0.02 * std::fabs(random.Normal())));
      }
      return true;
    };
    const SessionId s = host.Attach("job");
    EXPECT_TRUE(host.RunUntilEnd(s, 100000)) << "seed " << seed;
    busy.settled += host.settlement() && host.settlement()->kind == SettlementKind::kInJob;
    busy.wrong += table.LogCost(host.in_use(s)) > 1e-9;
    for (const RaceRecord& race : host.races()) {
      for (const PairSample& pair : race.pairs) busy.excluded += pair.excluded;
      busy.pairs += static_cast<double>(race.pairs.size());
    }
  }
  return busy;
}

TEST(BusyMachine, LetsWorkThroughHoweverBusyItIs) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  for (double share : {0.2, 0.6, 1.0}) {
    const Busy busy = Tunings(share, table);
    EXPECT_GE(busy.settled, 8u) << "of 10, busy " << share;
    EXPECT_EQ(busy.wrong, 0u) << "busy " << share;
    EXPECT_GT(busy.pairs, 0) << "busy " << share;
    EXPECT_LE(busy.excluded / busy.pairs, 0.55) << "busy " << share;
  }
}

// Said before anything is built, and not only when the search ends for it.
TEST(BusyMachine, SaysAtTheForecastWhatItCannotResolve) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  sim::HostSettings loud;
  loud.noise.sd = 0.4;
  sim::Host host(&table, loud, {}, {}, 5);
  host.RunUntilEnd(host.Attach("job"), 20000);
  std::string note;
  for (const Action& action : host.actions()) {
    if (std::holds_alternative<BuildVariant>(action)) break;
    const auto* report = std::get_if<ReportProgress>(&action);
    if (report != nullptr && report->phase == Phase::kSearch) note = report->note;
  }
  EXPECT_EQ(note.find("too noisy here to resolve less than "), 0u) << note;
  EXPECT_GT(host.forecast()->resolvable, 0.0225);
}

// A profiler that runs for the whole job: no pair is evidence, and the job runs every step of them.
struct Profiled {
  explicit Profiled(double cost)
      : table({0.02, cost, 0.02, 0.01}), host(&table, Quiet(), {}, Memory(), 7) {
    host.bend = [](EventBody& body) {
      if (auto* done = std::get_if<LeaseDone>(&body)) {
        for (UnitTime& unit : done->units) unit.flags |= kUnitProfiler;
      }
      return true;
    };
    session = host.Attach("job");
    EXPECT_TRUE(host.RunUntilEnd(session, 200000));
  }
  // What is cut short counts in full, whoever held it up: here nothing does.
  static sim::HostSettings Quiet() {
    sim::HostSettings settings;
    settings.noise.outlier_share = 0;
    return settings;
  }
  static TuningMemory Memory() {
    TuningMemory memory;
    memory.candidate.emplace();
    memory.candidate->plan = {{1, 1}};
    return memory;
  }
  sim::CostTable table;
  sim::Host host;
  SessionId session = 0;
};

TEST(WhollyExcluded, PairsOfASlowPlanAreLeftAndPaid) {
  const Profiled job(0.5);
  ASSERT_FALSE(job.host.races().empty());
  const RaceRecord& race = job.host.races()[0];
  EXPECT_EQ(race.challenger, (Plan{{1, 1}}));
  EXPECT_LE(race.pairs.size(), 32u) << "slower by half, again and again";
  EXPECT_EQ(race.outcome, RaceOutcome::kUndecided);
}

TEST(WhollyExcluded, PairsCostWhatTheirStepsTook) {
  const Profiled job(0.06);
  const CostRecord cost = job.host.outcome(job.session)->cost;
  const double lost = job.host.lost_steps();  // with a few of other plans
  EXPECT_GT(lost, 100);
  EXPECT_NEAR(static_cast<double>(cost.regret.count()) / 10e6, lost, 0.2 * lost);
  EXPECT_GE(cost.budget_spent, cost.regret);
}

TEST(WhollyExcluded, PairsAreNoGroundForAnAnswer) {
  const Profiled job(-0.08);
  EXPECT_EQ(job.host.outcome(job.session)->outcome, Outcome::kUndecided);
  EXPECT_FALSE(job.host.settlement().has_value());
}

TEST(BusyMachine, StillLeavesOutWhatARareNeighbourTouched) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  const Busy busy = Tunings(0.2, table);
  EXPECT_GT(busy.excluded / busy.pairs, 0.05);
}

}  // namespace
}  // namespace blazed::planner
