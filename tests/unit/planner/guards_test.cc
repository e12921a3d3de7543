// What stands between a won race and a settlement beside the bets: long dwells, sham races.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "client/sim/host.h"
#include "daemon/planner/tail_guard.h"

namespace blazed::planner {
namespace {

const Plan kGood = {{1, 1}};

std::vector<RaceRecord> RacesOf(const sim::Host& host, RaceKind kind) {
  std::vector<RaceRecord> races;
  std::copy_if(host.races().begin(), host.races().end(), std::back_inserter(races),
               [&](const RaceRecord& race) { return race.kind == kind; });
  return races;
}

TEST(LongDwells, ComeOnceBeforeASettlementAndAreInTheAccounts) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 1);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  ASSERT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  const auto dwells = RacesOf(host, RaceKind::kDwell);
  ASSERT_EQ(dwells.size(), 1u);
  EXPECT_EQ(dwells[0].outcome, RaceOutcome::kWon) << dwells[0].reason;
  EXPECT_EQ(dwells[0].challenger, kGood);
  EXPECT_TRUE(dwells[0].champion.empty());
  ASSERT_GE(dwells[0].pairs.size(), 2u);
  // Each block is twice 32 pairs of a plan with itself; 32 such pairs came before the forecast.
  EXPECT_EQ(host.outcome(s)->cost.noise_pairs, 32 + 64 * dwells[0].pairs.size());
  EXPECT_GE(host.outcome(s)->cost.replication_pairs, 64 * dwells[0].pairs.size());
}

// Each switch to the default costs 2 % that fade over 30 steps: pairs see all of it, with and
// without the first step, in service nothing is there.
TEST(LongDwells, FindAWinThatIsTheAftermathOfSwitches) {
  sim::TableSettings settings;
  settings.boundaries = 6;
  settings.flat = true;
  sim::HostSettings slow_switch;
  slow_switch.noise.carry_default = 0.02;
  slow_switch.noise.carry_steps = 30;
  int settled = 0, gone = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const sim::CostTable table(settings, seed);
    sim::Host host(&table, slow_switch, {}, {}, seed + 40);
    const SessionId s = host.Attach("job");
    ASSERT_TRUE(host.RunUntilEnd(s, 100000)) << "seed " << seed;
    settled += host.outcome(s)->outcome == Outcome::kSettled ? 1 : 0;
    for (const RaceRecord& race : RacesOf(host, RaceKind::kDwell)) {
      if (race.outcome != RaceOutcome::kLost) continue;
      ++gone;
      EXPECT_EQ(host.plans().at(race.challenger).verdict, Verdict::kLost);
      EXPECT_EQ(host.plans().at(race.challenger).reason, race.reason);
    }
  }
  EXPECT_GE(gone, 40) << "seeds 0 to 39";
  EXPECT_LE(settled, 10) << "seeds 0 to 39";
}

TEST(LongDwells, AreLeftOutWhereStepsTakeSecondsAndSaySo) {
  const sim::CostTable table({0.02, -0.2, 0.02, 0.01});
  sim::HostSettings slow;
  slow.step_ns = 2e9;
  slow.noise.sd = 0.002;
  sim::Host host(&table, slow, {}, {}, 5);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 5000));
  ASSERT_EQ(host.outcome(s)->outcome, Outcome::kSettled) << host.outcome(s)->reason;
  const auto dwells = RacesOf(host, RaceKind::kDwell);
  ASSERT_EQ(dwells.size(), 1u);
  EXPECT_EQ(dwells[0].outcome, RaceOutcome::kUndecided);
  EXPECT_TRUE(dwells[0].pairs.empty());
  EXPECT_NE(dwells[0].reason.find("left out"), std::string::npos) << dwells[0].reason;
}

// The win is replicated: a host that answers no more keeps nothing from being settled.
TEST(LongDwells, SettleWhatWasReplicatedWhereTheyAreCutShort) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 6);
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<LeaseDone>(&body);
    if (done == nullptr || RacesOf(host, RaceKind::kReplication).empty()) return true;
    body = DirectiveRefused{done->session, done->lease, 0, Refusal::kNotTuning, "frozen"};
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  const auto dwells = RacesOf(host, RaceKind::kDwell);
  ASSERT_EQ(dwells.size(), 1u);
  EXPECT_EQ(dwells[0].outcome, RaceOutcome::kUndecided);
  EXPECT_EQ(dwells[0].reason, "frozen");
}

// A profiler that is switched on behind the replication disturbs every one of them.
TEST(LongDwells, AreNotTriedForEverWhereEachIsDisturbed) {
  const sim::CostTable table({0.02, -0.08, 0.02, 0.01});
  sim::Host host(&table, {}, {}, {}, 6);
  int dwells = 0;
  host.bend = [&](EventBody& body) {
    auto* done = std::get_if<LeaseDone>(&body);
    if (done == nullptr || RacesOf(host, RaceKind::kReplication).empty()) return true;
    ++dwells;
    for (UnitTime& unit : done->units) unit.flags |= kUnitProfiler;
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(dwells, 3);
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  ASSERT_EQ(RacesOf(host, RaceKind::kDwell).size(), 1u);
  EXPECT_EQ(RacesOf(host, RaceKind::kDwell)[0].reason, "long dwells are disturbed again and again");
}

// A fifth of the boundaries shows nowhere, and every search race has its control before it.
struct WithShams {
  explicit WithShams(uint64_t seed) {
    sim::TableSettings settings;
    settings.boundaries = 12;
    settings.idle_share = 0.4;
    settings.good_share = 0.3;
    table.emplace(settings, seed);
    TuningConfig config;
    config.sham_share = 1;
    host.emplace(&*table, sim::HostSettings{}, config, TuningMemory{}, seed);
  }
  // Makes every challenger of a sham race this much faster.
  void Favour(double share) {
    host->bend = [this, share](EventBody& body) {
      auto* done = std::get_if<LeaseDone>(&body);
      if (done == nullptr) return true;
      for (auto it = host->actions().rbegin(); it != host->actions().rend(); ++it) {
        const auto* run = std::get_if<RunPairs>(&*it);
        if (run == nullptr || run->lease != done->lease) continue;
        if (!IsSham(*run)) break;
        for (size_t i = 0; i < run->challenger_first.size(); ++i) {
          UnitTime& unit = done->units[2 * i + (run->challenger_first[i] ? 0 : 1)];
          unit.host_ns = static_cast<uint64_t>(static_cast<double>(unit.host_ns) * (1 - share));
        }
        break;
      }
      return true;
    };
  }
  bool IsSham(const RunPairs& run) const {
    Plan champion, challenger;
    for (const Action& action : host->actions()) {
      const auto* build = std::get_if<BuildVariant>(&action);
      if (build == nullptr) continue;
      if (build->variant == run.champion) champion = build->plan;
      if (build->variant == run.challenger) challenger = build->plan;
    }
    return !champion.empty() && champion != challenger &&
           table->Signature(champion, 0) == table->Signature(challenger, 0);
  }
  std::optional<sim::CostTable> table;
  std::optional<sim::Host> host;
};

TEST(Shams, RaceThePlanInUseAgainstItsLikeAndChangeNothing) {
  uint64_t shams = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    WithShams job(seed);
    const SessionId s = job.host->Attach("job");
    ASSERT_TRUE(job.host->RunUntilEnd(s, 100000)) << "seed " << seed;
    for (const RaceRecord& race : RacesOf(*job.host, RaceKind::kSham)) {
      ++shams;
      EXPECT_NE(race.outcome, RaceOutcome::kWon) << "seed " << seed;
      EXPECT_NE(race.champion, race.challenger);
      EXPECT_EQ(job.table->Signature(race.champion, 0), job.table->Signature(race.challenger, 0));
      EXPECT_EQ(job.host->plans().at(race.challenger).verdict, Verdict::kDuplicate);
      EXPECT_NE(job.host->in_use(s), race.challenger) << "a sham is never adopted";
    }
  }
  EXPECT_GT(shams, 3u) << "seeds 1 to 12";
}

TEST(Shams, TurnToDiscardModeWhereOneIsWonAndEndTheSearchAtTheSecond) {
  uint64_t won = 0, ended = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    WithShams job(seed);
    job.Favour(0.05);
    const SessionId s = job.host->Attach("job");
    ASSERT_TRUE(job.host->RunUntilEnd(s, 100000)) << "seed " << seed;
    bool suspected = false;
    uint64_t wins = 0;
    for (const Action& action : job.host->actions()) {
      const auto* race = std::get_if<KeepRace>(&action);
      const auto* run = std::get_if<RunPairs>(&action);
      if (race != nullptr && race->record.kind == RaceKind::kSham) {
        wins += race->record.outcome == RaceOutcome::kWon ? 1 : 0;
        suspected = suspected || wins > 0;
      }
      if (run != nullptr && suspected && run->champion != run->challenger) {
        EXPECT_EQ(run->warm_steps, 1u) << "seed " << seed;
      }
    }
    won += wins;
    if (wins < 2) continue;
    ++ended;
    EXPECT_EQ(job.host->outcome(s)->outcome, Outcome::kUndecided) << "seed " << seed;
    EXPECT_FALSE(job.host->settlement().has_value()) << "seed " << seed;
    EXPECT_TRUE(job.host->in_use(s).empty()) << "seed " << seed;
  }
  EXPECT_GT(won, 0u) << "seeds 1 to 12";
  EXPECT_GT(ended, 0u) << "seeds 1 to 12";
}

}  // namespace
}  // namespace blazed::planner
