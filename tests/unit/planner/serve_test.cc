// Settlements for other processes, candidates of other principals, and what a daemon remembers
// across restarts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "client/sim/host.h"
#include "daemon/planner/race.h"
#include "daemon/planner/search.h"

namespace blazed::planner {
namespace {

const Plan kGood = {{1, 1}};

sim::CostTable Table(double cost) { return sim::CostTable({0.02, cost, 0.02, 0.01}); }

SettlementRecord Stored(const sim::CostTable& table, bool matching = true) {
  SettlementRecord record;
  record.id = 40;
  record.kind = SettlementKind::kInJob;
  record.plan = kGood;
  record.champion_signature = matching ? table.Signature(kGood, 0) : Digest{9};
  record.default_signature = table.Signature({}, 0);
  record.gain = {0.077, 0.07, 0.084};
  record.session = 900;
  return record;
}

TuningMemory Remembering(SettlementRecord record) {
  TuningMemory memory;
  memory.settlement = std::move(record);
  return memory;
}

TEST(Serving, AdoptsWithoutPairsWhereBothSignaturesAreEqual) {
  const sim::CostTable table = Table(-0.08);
  sim::Host host(&table, {}, {}, Remembering(Stored(table)), 1);
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 500));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kServed);
  EXPECT_EQ(host.outcome(s)->settlement, 40u);
  EXPECT_EQ(host.in_use(s), kGood);
  EXPECT_TRUE(host.races().empty());
  EXPECT_EQ(host.outcome(s)->cost.search_pairs + host.outcome(s)->cost.replication_pairs, 0u);
  EXPECT_GE(host.outcome(s)->cost.probes, 1u);
  for (const Action& action : host.actions()) {
    EXPECT_FALSE(std::holds_alternative<RunPairs>(action));
    if (const auto* adopt = std::get_if<Adopt>(&action)) {
      EXPECT_EQ(adopt->reason, AdoptReason::kStoredMatch);
      EXPECT_EQ(adopt->settlement, 40u);
      EXPECT_TRUE(adopt->settled);
    }
  }
}

TEST(Serving, ReplicatesWhereASignatureDiffers) {
  const sim::CostTable table = Table(-0.08);
  sim::Host host(&table, {}, {}, Remembering(Stored(table, false)), 2);
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 5000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kServed);
  EXPECT_EQ(host.settlement()->kind, SettlementKind::kReplicated);
  EXPECT_EQ(host.settlement()->champion_signature, table.Signature(kGood, 0));
  EXPECT_EQ(host.outcome(s)->cost.search_pairs, 0u);
  EXPECT_GT(host.outcome(s)->cost.replication_pairs, 0u);
  EXPECT_EQ(host.in_use(s), kGood);
}

// A win that small may be what the settling process drew at its start, so signatures tell too
// little.
SettlementRecord StoredSmall(const sim::CostTable& table) {
  SettlementRecord record = Stored(table);
  record.gain = {0.012, 0.006, 0.018};
  return record;
}

TEST(Serving, ReplicatesASmallWinOfOneProcessThoughBothSignaturesAreEqual) {
  const sim::CostTable table = Table(-0.03);
  sim::Host host(&table, {}, {}, Remembering(StoredSmall(table)), 31);
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 5000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kServed);
  EXPECT_EQ(host.outcome(s)->cost.search_pairs, 0u);
  EXPECT_GT(host.outcome(s)->cost.replication_pairs, 0u);
  EXPECT_EQ(host.settlement()->kind, SettlementKind::kReplicated);
  EXPECT_EQ(host.in_use(s), kGood);
  // Two processes have seen it: the third takes their word.
  const size_t races = host.races().size();
  const SessionId third = host.Attach("third");
  ASSERT_TRUE(host.RunUntilEnd(third, 500));
  EXPECT_EQ(host.in_use(third), kGood);
  EXPECT_EQ(host.races().size(), races);
}

TEST(Serving, DemotesASmallWinThatWasOneProcesssOwn) {
  const sim::CostTable table = Table(0.0);
  sim::Host host(&table, {}, {}, Remembering(StoredSmall(table)), 32);
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.demotions(), 1u);
  EXPECT_EQ(host.races()[0].reason, "the gain is smaller than what is looked for");
  EXPECT_TRUE(host.in_use(s).empty());
}

// Its own process has its own effects: there the win is true, whatever others will see.
TEST(Serving, AdoptsASmallWinWithoutPairsInTheProcessThatSettledIt) {
  const sim::CostTable table = Table(-0.03);
  SettlementRecord record = StoredSmall(table);
  record.session = 1;  // the id that a resumed session keeps
  sim::Host host(&table, {}, {}, Remembering(record), 33);
  const SessionId s = host.Attach("job");
  ASSERT_EQ(s, 1u);
  ASSERT_TRUE(host.RunUntilEnd(s, 500));
  EXPECT_EQ(host.in_use(s), kGood);
  EXPECT_TRUE(host.races().empty());
}

TEST(Serving, TellsAPinnedSessionThatASmallWinWaitsForAnotherProcess) {
  const sim::CostTable table = Table(-0.03);
  sim::Host host(&table, {}, {}, Remembering(StoredSmall(table)), 34);
  const SessionId s = host.Attach("pinned", Mode::kPinned);
  ASSERT_TRUE(host.RunUntilEnd(s, 500));
  EXPECT_TRUE(host.in_use(s).empty());
  EXPECT_EQ(host.outcome(s)->reason,
            "the settled win has yet to be replicated outside of its process, and trials are off");
}

TEST(Serving, DemotesAndSearchesWhereTheWinIsNotThere) {
  const sim::CostTable table = Table(0.03);
  sim::Host host(&table, {}, {}, Remembering(Stored(table, false)), 3);
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.demotions(), 1u);
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner);
  EXPECT_TRUE(host.in_use(s).empty());
}

TEST(Serving, DemotesASettledPlanThatFailsItsProbes) {
  const sim::CostTable table = Table(-0.08);
  sim::Host host(&table, {}, {}, Remembering(Stored(table)), 4);
  host.bend = [](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done != nullptr && done->variant == 1) {
      done->summary.equivalence = Equivalence::kRejectedDifferent;
      done->passed_batches = 0;
    }
    return true;
  };
  host.on_live = [](SessionId, VariantId variant, const Plan&) { EXPECT_NE(variant, 1u); };
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 50000));
  EXPECT_EQ(host.demotions(), 1u);
  EXPECT_EQ(host.plans().at(kGood).verdict, Verdict::kRejectedDifferent);
  EXPECT_TRUE(host.in_use(s).empty());
}

// B replicates what C's probes prove wrong.
TEST(Serving, SettlesNothingFromARaceOfAPlanThatIsDemotedMeanwhile) {
  const sim::CostTable table = Table(-0.08);
  sim::Host host(&table, {}, {}, Remembering(Stored(table, false)), 25);
  const SessionId b = host.Attach("b");
  // Its replication is under way, with a few pairs.
  const auto pairs = [&host](const Event& event) {
    return std::holds_alternative<LeaseDone>(event.body);
  };
  while (std::count_if(host.events().begin(), host.events().end(), pairs) < 2) {
    host.RunUntilEnd(b, 1);
  }
  ASSERT_EQ(host.tuning().phase(b), Phase::kReplicate);
  SessionId c = 0;
  host.bend = [&c](EventBody& body) {
    auto* done = std::get_if<ProbeDone>(&body);
    if (done != nullptr && done->session == c) {
      done->summary.equivalence = Equivalence::kRejectedDifferent;
      done->passed_batches = 0;
    }
    return true;
  };
  c = host.Attach("c");
  while (host.demotions() == 0) host.RunUntilEnd(c, 1);
  ASSERT_EQ(host.races().size(), 1u) << "the race under way is not filed";
  EXPECT_EQ(host.races()[0].outcome, RaceOutcome::kUndecided);
  EXPECT_EQ(host.races()[0].challenger, kGood);
  host.RunUntilEnd(b, 200);
  EXPECT_TRUE(!host.settlement() || host.settlement()->plan != kGood)
      << "the demoted plan settled again";
  for (const RaceRecord& race : host.races()) {
    EXPECT_FALSE(race.kind == RaceKind::kReplication && race.outcome == RaceOutcome::kWon);
  }
}

// C finds the plan wrong while the store writes that B replicated it.
TEST(Serving, DemotesASettlementWhosePlanFailedWhileTheStoreWroteIt) {
  const sim::CostTable table = Table(-0.08);
  sim::Host host(&table, {}, {}, {}, 27);
  const SessionId first = host.Attach("first");
  ASSERT_TRUE(host.RunUntilEnd(first, 20000));
  host.Detach(first);
  host.SetSalt("b", 5);
  const SessionId b = host.Attach("b"), c = host.Attach("c");
  bool told = false;
  host.on_live = [&](SessionId session, VariantId, const Plan&) {
    int asked = 0;
    Adopt last;
    for (const Action& action : host.actions()) {
      asked += std::holds_alternative<Settle>(action) ? 1 : 0;
      const auto* adopt = std::get_if<Adopt>(&action);
      if (adopt != nullptr && adopt->session == c) last = *adopt;
    }
    if (session != c || asked < 2 || told) return;
    told = true;
    host.Send(DirectiveRefused{c, last.adopt, last.variant, Refusal::kRejectedEarlier, "wrong"});
    EXPECT_EQ(host.demotions(), 0u) << "the store has not answered";
  };
  host.RunUntilEnd(b, 5000);
  ASSERT_TRUE(told);
  std::vector<uint64_t> demoted;
  for (const Action& action : host.actions()) {
    const auto* demote = std::get_if<DemoteSettlement>(&action);
    if (demote != nullptr) demoted.push_back(demote->settlement);
  }
  EXPECT_EQ(demoted, std::vector<uint64_t>{2});
  EXPECT_TRUE(host.in_use(b).empty());
  EXPECT_TRUE(host.in_use(c).empty());
}

TEST(Serving, KeepsTheDefaultWhereAnEarlierSearchFoundNoWinner) {
  const sim::CostTable table = Table(-0.08);
  SettlementRecord none;
  none.id = 41;
  none.kind = SettlementKind::kNoWinner;
  none.default_signature = table.Signature({}, 0);
  sim::Host host(&table, {}, {}, Remembering(none), 5);
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 10));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner);
  EXPECT_EQ(host.builds(), 0u);
  EXPECT_TRUE(host.settled(s));
}

// A default that runs as something else may well be beaten.
TEST(Serving, SearchesAgainWhereNoWinnerWasFoundAgainstAnotherDefault) {
  const sim::CostTable table = Table(-0.08);
  SettlementRecord none;
  none.id = 41;
  none.kind = SettlementKind::kNoWinner;
  none.default_signature = Digest{9};
  sim::Host host(&table, {}, {}, Remembering(none), 26);
  const SessionId pinned = host.Attach("pinned", Mode::kPinned);
  ASSERT_TRUE(host.RunUntilEnd(pinned, 10)) << "trials are off there";
  EXPECT_EQ(host.outcome(pinned)->outcome, Outcome::kNoWinner);
  const SessionId s = host.Attach("next");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  EXPECT_EQ(host.in_use(s), kGood);
}

TEST(Serving, TellsAPinnedSessionThatItWaitsForASettlementAndNotForATurn) {
  const sim::CostTable table = Table(-0.08);
  sim::Host host(&table, {}, {}, {}, 6);
  host.Attach("pinned", Mode::kPinned);
  const auto* said = std::get_if<ReportProgress>(&host.actions().back());
  ASSERT_NE(said, nullptr);
  EXPECT_EQ(said->note, "pinned, and nothing is settled yet");
}

TEST(Serving, ServesAPinnedSessionByMatchAndReportsItsMisses) {
  const sim::CostTable table = Table(-0.08);
  sim::Host match(&table, {}, {}, Remembering(Stored(table)), 6);
  const SessionId served = match.Attach("next", Mode::kPinned);
  ASSERT_TRUE(match.RunUntilEnd(served, 500));
  EXPECT_EQ(match.in_use(served), kGood);

  sim::Host miss(&table, {}, {}, Remembering(Stored(table, false)), 6);
  const SessionId missed = miss.Attach("next", Mode::kPinned);
  ASSERT_TRUE(miss.RunUntilEnd(missed, 500));
  EXPECT_TRUE(miss.in_use(missed).empty());
  EXPECT_TRUE(miss.races().empty());
  EXPECT_FALSE(miss.outcome(missed)->reason.empty());
}

TEST(Serving, ReplicatesACandidateOfAnotherPrincipalBeforeAnySearch) {
  const sim::CostTable table = Table(-0.08);
  TuningMemory memory;
  memory.candidate = Stored(table);
  sim::Host host(&table, {}, {}, memory, 7);
  const SessionId s = host.Attach("other user");
  ASSERT_TRUE(host.RunUntilEnd(s, 5000));
  EXPECT_EQ(host.settlement()->kind, SettlementKind::kReplicated);
  ASSERT_EQ(host.races().size(), 2u);
  EXPECT_EQ(host.races()[0].kind, RaceKind::kReplication);
  EXPECT_EQ(host.races()[1].kind, RaceKind::kDwell);
  EXPECT_EQ(host.in_use(s), kGood);
}

TEST(Serving, SearchesOnWhereACandidateIsNoWin) {
  const sim::CostTable table = Table(0.03);
  TuningMemory memory;
  memory.candidate = Stored(table);
  sim::Host host(&table, {}, {}, memory, 8);
  const SessionId s = host.Attach("other user");
  ASSERT_TRUE(host.RunUntilEnd(s, 20000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kNoWinner);
  EXPECT_EQ(host.plans().at(kGood).verdict, Verdict::kLost);
}

TEST(Serving, GoesOnWithTheErrorSplitOfEarlierRaces) {
  const sim::CostTable table = Table(-0.08);
  TuningMemory memory;
  memory.races = 5;
  sim::Host host(&table, {}, {}, memory, 9);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), 20000));
  double largest = 0;
  for (const RaceRecord& race : host.races()) {
    EXPECT_GT(race.id, 5u);
    if (race.kind == RaceKind::kSearch) largest = std::max(largest, race.alpha);
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, 0.05 / (7 * 8));
}

// Whatever opens a check, the next one has the next share of alpha, over processes and demotions.
TEST(Serving, GoesOnWithTheErrorSplitOfEarlierChecks) {
  const sim::CostTable table = Table(-0.08);
  TuningMemory memory = Remembering(Stored(table, false));
  memory.races = 9;
  memory.checks = 3;
  sim::Host served(&table, {}, {}, memory, 21);
  ASSERT_TRUE(served.RunUntilEnd(served.Attach("job"), 20000));
  ASSERT_EQ(served.races().size(), 1u);
  EXPECT_EQ(served.races()[0].kind, RaceKind::kReplication);
  EXPECT_DOUBLE_EQ(served.races()[0].alpha, SplitAlpha(0.05, 5));

  memory.settlement.reset();
  sim::Host searched(&table, {}, {}, memory, 22);
  ASSERT_TRUE(searched.RunUntilEnd(searched.Attach("job"), 20000));
  uint64_t next = 5;
  for (const RaceRecord& race : searched.races()) {
    if (race.kind != RaceKind::kVerification && race.kind != RaceKind::kReplication) continue;
    EXPECT_DOUBLE_EQ(race.alpha, SplitAlpha(0.05, next++));
  }
  EXPECT_GE(next, 7u) << "no verification and replication was there to be looked at";
}

TEST(Serving, SplitsAlphaOverAllProcessesThatReplicateASettlement) {
  const sim::CostTable table = Table(-0.08);
  sim::Host host(&table, {}, {}, {}, 23);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("first"), 20000));
  for (const char* process : {"second", "third"}) {
    host.SetSalt(process, process[0]);
    ASSERT_TRUE(host.RunUntilEnd(host.Attach(process), 20000)) << process;
  }
  uint64_t next = 1;
  for (const RaceRecord& race : host.races()) {
    if (race.kind != RaceKind::kVerification && race.kind != RaceKind::kReplication) continue;
    EXPECT_DOUBLE_EQ(race.alpha, SplitAlpha(0.05, next++));
  }
  EXPECT_EQ(next, 5u) << "a verification and three replications";
}

TEST(Serving, RacesNoCandidateThatWasJudgedHere) {
  const sim::CostTable table = Table(0.03);
  for (Verdict verdict : {Verdict::kLost, Verdict::kDemoted, Verdict::kRejectedDifferent}) {
    TuningMemory memory;
    memory.candidate = Stored(table);
    memory.plans.resize(1);
    memory.plans[0].plan = kGood;
    memory.plans[0].verdict = verdict;
    sim::Host host(&table, {}, {}, memory, 24);
    ASSERT_TRUE(host.RunUntilEnd(host.Attach("other user"), 20000));
    for (const RaceRecord& race : host.races()) {
      EXPECT_FALSE(race.kind == RaceKind::kReplication && race.challenger == kGood)
          << static_cast<int>(verdict);
    }
  }
}

TEST(Serving, NeverTriesAgainWhatAnEarlierProcessRejected) {
  const sim::CostTable table = Table(-0.08);
  TuningMemory memory;
  memory.plans.resize(1);
  memory.plans[0].plan = kGood;
  memory.plans[0].verdict = Verdict::kRejectedDifferent;
  sim::Host host(&table, {}, {}, memory, 10);
  ASSERT_TRUE(host.RunUntilEnd(host.Attach("job"), 20000));
  for (const Action& action : host.actions()) {
    const auto* build = std::get_if<BuildVariant>(&action);
    if (build == nullptr) continue;
    for (const Choice& c : build->plan) EXPECT_NE(c, kGood[0]);
  }
}

TEST(Serving, TakesTheSearchUpFromItsSavedState) {
  sim::TableSettings settings;
  settings.boundaries = 20;
  const sim::CostTable table(settings, 77);
  sim::HostSettings short_job;
  short_job.tune_until_steps = 400;
  sim::Host first(&table, short_job, {}, {}, 11);
  first.RunUntilEnd(first.Attach("a"), 5000);
  TuningMemory memory;
  memory.surrogate = first.tuning().SaveSurrogate();
  ASSERT_FALSE(memory.surrogate.empty());
  sim::Host second(&table, {}, {}, memory, 12);
  sim::Host fresh(&table, {}, {}, {}, 12);
  EXPECT_NE(second.tuning().SaveSurrogate(), fresh.tuning().SaveSurrogate());
}

}  // namespace
}  // namespace blazed::planner
