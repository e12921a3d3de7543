// What every store promises, run against each implementation.
#include <functional>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/digest_text.h"
#include "storage/memory/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"

namespace blazed::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A store whose clock the test moves.
struct Made {
  std::unique_ptr<TemporaryFolder> folder;
  std::shared_ptr<WallNs> now = std::make_shared<WallNs>(1'000'000);
  std::unique_ptr<Store> store;
};

Made MakeMemory() {
  Made made;
  MemoryOptions options;
  options.clock = [now = made.now] { return *now; };
  options.events_kept = 5;
  options.pair_sets_kept = 2;
  made.store = std::make_unique<MemoryStore>(options);
  return made;
}

Made MakeSqlite() {
  Made made;
  made.folder = std::make_unique<TemporaryFolder>();
  SqliteOptions options;
  options.folder = made.folder->path();
  options.clock = [now = made.now] { return *now; };
  options.events_kept = 5;
  options.pair_sets_kept = 2;
  absl::StatusOr<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(options, nullptr);
  EXPECT_TRUE(store.ok()) << store.status();
  if (store.ok()) made.store = *std::move(store);
  return made;
}

struct Kind {
  const char* name;
  Made (*make)();
};

class StoreContract : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    made_ = GetParam().make();
    ASSERT_NE(made_.store, nullptr);
    reader_ = store().NewReader();
  }

  Store& store() { return *made_.store; }
  Reader& reader() { return *reader_; }
  WallNs& now() { return *made_.now; }

  TuningId PutTuning(const TuningKey& key = samples::Key()) {
    absl::StatusOr<TuningId> id = samples::PutTuningWithParents(store(), key);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(0);
  }

 private:
  Made made_;
  std::unique_ptr<Reader> reader_;
};

TEST_P(StoreContract, GivesBackAnEnvironmentAsItWasPut) {
  ASSERT_TRUE(store().PutEnvironment(samples::Environment()).ok());
  ASSERT_TRUE(store().PutEnvironment(samples::Environment()).ok()) << "a repeat is harmless";
  auto row = reader().Environment(samples::DigestOf(1));
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(*row, samples::Environment());
  EXPECT_EQ(reader().Environment(samples::DigestOf(9)).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_P(StoreContract, GivesBackAWorkloadWithItsDecisionsInOrder) {
  ASSERT_TRUE(store().PutGraph(samples::Graph()).ok());
  ASSERT_TRUE(store().PutWorkload(samples::Workload()).ok());
  now() += 50;
  ASSERT_TRUE(store().PutWorkload(samples::Workload()).ok());
  auto rows = reader().Workloads({});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_THAT(*rows, SizeIs(1));
  EXPECT_EQ(rows->front().row, samples::Workload());
  EXPECT_EQ(rows->front().last_seen_ns - rows->front().first_seen_ns, 50);
  auto graphs = reader().Graphs({});
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  ASSERT_THAT(*graphs, SizeIs(1));
  EXPECT_EQ(graphs->front().row, samples::Graph());
}

TEST_P(StoreContract, RefusesAWorkloadOfMissingGraphs) {
  EXPECT_EQ(store().PutWorkload(samples::Workload()).code(), absl::StatusCode::kInvalidArgument);
  auto rows = reader().Workloads({});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, IsEmpty());
}

TEST_P(StoreContract, RefusesOtherDecisionsUnderAKnownFingerprint) {
  ASSERT_TRUE(store().PutGraph(samples::Graph()).ok());
  ASSERT_TRUE(store().PutWorkload(samples::Workload()).ok());
  WorkloadRow other = samples::Workload();
  other.spec.decisions.pop_back();
  const absl::Status status = store().PutWorkload(other);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("other graphs or decisions"));
  EXPECT_EQ(reader().WorkloadByPrefix("")->spec.decisions.size(), 2u);
}

TEST_P(StoreContract, FindsAWorkloadByAUniquePrefix) {
  const TuningId first = PutTuning(samples::Key(1000, 3));
  const TuningId second = PutTuning(samples::Key(1000, 5));
  EXPECT_NE(first, second);
  const std::string hex = DigestToHex(samples::DigestOf(5));
  for (const size_t digits : {size_t{3}, size_t{4}, hex.size()}) {
    auto row = reader().WorkloadByPrefix(hex.substr(0, digits));
    ASSERT_TRUE(row.ok()) << row.status();
    EXPECT_EQ(row->spec.fingerprint, samples::DigestOf(5));
  }
  EXPECT_EQ(reader().WorkloadByPrefix("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(reader().WorkloadByPrefix("ffff").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(reader().WorkloadByPrefix("xyz").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(StoreContract, CountsTheTuningsOfAUserUpToOne) {
  const TuningId first = PutTuning(samples::Key(1000, 3));
  const TuningId foreign = PutTuning(samples::Key(1001, 3));
  const TuningId second = PutTuning(samples::Key(1000, 5));
  EXPECT_EQ(*store().CountTunings(1000, first), 1u);
  EXPECT_EQ(*store().CountTunings(1000, second), 2u);
  EXPECT_EQ(*store().CountTunings(1001, foreign), 1u);
  EXPECT_EQ(*store().CountTunings(1001, second), 1u);
  EXPECT_EQ(*store().CountTunings(1002, second), 0u);
}

TEST_P(StoreContract, KeepsOneTuningAKey) {
  const TuningId first = PutTuning();
  EXPECT_EQ(*store().PutTuning(samples::Key()), first);
  EXPECT_NE(*store().PutTuning(samples::Key(1001)), first);
  TuningKey bitwise = samples::Key();
  bitwise.contract = planner::Contract::kBitwise;
  EXPECT_NE(*store().PutTuning(bitwise), first);
  TuningKey boxed = samples::Key();
  boxed.principal = "uid 1000 cgroup /container";
  EXPECT_NE(*store().PutTuning(boxed), first);
  auto found = reader().TuningById(first);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->key, samples::Key());
}

TEST_P(StoreContract, RefusesEvidenceOfAnUnknownTuning) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(store().PutPlan(7, samples::Plan()).code(), code);
  EXPECT_EQ(store().PutRace(7, samples::Race()).code(), code);
  EXPECT_EQ(store().PutSettlement(7, samples::Settlement()).status().code(), code);
  EXPECT_EQ(store().PutKernels(7, samples::Kernels()).code(), code);
  EXPECT_EQ(store().PutEvent(samples::Event(7, "x")).status().code(), code);
  EXPECT_EQ(store().PutSession(samples::Session(1, 7)).code(), code);
  EXPECT_EQ(store().PutProbe(7, {}).code(), code);
  EXPECT_EQ(store().PutOutcome(7, {}).code(), code);
  EXPECT_EQ(store().PutForecast(7, {}).code(), code);
  EXPECT_EQ(store().PutSurrogate(7, {1}).code(), code);
  EXPECT_EQ(store().PutVariant(7, 1, 1, {}, {}, 0, 0, "").code(), code);
  EXPECT_EQ(store().PutTuning(samples::Key()).status().code(), code);
  EXPECT_EQ(store().LoadMemory(7).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(StoreContract, NumbersSessionsUpwards) {
  const auto first = store().NewSessionId();
  const auto second = store().NewSessionId();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GT(*first, 0u);
  EXPECT_GT(*second, *first);
}

TEST_P(StoreContract, UpdatesASessionById) {
  const TuningId tuning = PutTuning();
  ASSERT_TRUE(store().PutSession(samples::Session(1, 0)).ok());
  ASSERT_TRUE(store().PutSession(samples::Session(1, tuning)).ok());
  auto session = reader().Session(1);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(session->has_value());
  EXPECT_EQ(**session, samples::Session(1, tuning));
  EXPECT_EQ(*reader().Session(2), std::nullopt);
}

TEST_P(StoreContract, GivesBackAPlanWithItsComparison) {
  const TuningId tuning = PutTuning();
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
  auto plans = reader().Plans({});
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_THAT(*plans, SizeIs(1));
  EXPECT_EQ(plans->front().record, samples::Plan());
  EXPECT_EQ(plans->front().tuning, tuning);
}

TEST_P(StoreContract, ReplacesAPlanByItsChoices) {
  const TuningId tuning = PutTuning();
  planner::PlanRecord proposed = samples::Plan();
  proposed.has_comparison = false;
  proposed.comparison = {};
  proposed.verdict = planner::Verdict::kProposed;
  ASSERT_TRUE(store().PutPlan(tuning, proposed).ok());
  EXPECT_EQ(reader().Plans({})->front().record, proposed);
  now() += 5;
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan(2)).ok());
  auto plans = reader().Plans({});
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_THAT(*plans, SizeIs(2));
  EXPECT_EQ(plans->back().record, samples::Plan());
  EXPECT_EQ(plans->back().updated_ns, now());
  EXPECT_EQ(*reader().PlanId(tuning, samples::Plan().plan), plans->back().id);
  EXPECT_EQ(*reader().PlanId(tuning, {}), 0);
}

TEST_P(StoreContract, GivesBackARaceAndItsRawPairsExactly) {
  const TuningId tuning = PutTuning();
  planner::RaceRecord record = samples::Race();
  record.pairs.push_back({0.1, 1e300, false, false, false, 9});
  record.pairs.push_back({9007199254740993.0, -1, true, true, true});
  ASSERT_TRUE(store().PutRace(tuning, record).ok());
  auto races = reader().Races({});
  ASSERT_TRUE(races.ok()) << races.status();
  ASSERT_THAT(*races, SizeIs(1));
  const StoredRace& race = races->front();
  EXPECT_EQ(race.pair_count, record.pairs.size());
  auto pairs = reader().LoadPairs(race.id);
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_EQ(*pairs, record.pairs);
  EXPECT_EQ(race.ended_ns - race.started_ns, 4'000);
  EXPECT_GT(race.champion_ns.p50, race.champion_ns.p10);
  planner::RaceRecord head = record;
  head.pairs.clear();
  EXPECT_EQ(race.record, head);
  EXPECT_EQ(reader().LoadPairs(race.id + 1).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(StoreContract, SupersedesTheSettlementInForce) {
  const TuningId tuning = PutTuning();
  auto first = store().PutSettlement(tuning, samples::Settlement());
  auto second =
      store().PutSettlement(tuning, samples::Settlement(planner::SettlementKind::kReplicated));
  ASSERT_TRUE(first.ok() && second.ok());
  auto rows = reader().Settlements({});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_THAT(*rows, SizeIs(2));
  EXPECT_EQ(rows->front().record.id, *second);
  EXPECT_EQ(rows->front().state, SettlementState::kInForce);
  EXPECT_EQ(rows->back().state, SettlementState::kSuperseded);
  EXPECT_THAT(rows->back().state_reason, HasSubstr(std::to_string(*second)));
  planner::SettlementRecord expected = samples::Settlement();
  expected.id = *first;
  EXPECT_EQ(rows->back().record, expected);
  EXPECT_EQ(rows->front().settled_ns, now());
  auto memory = store().LoadMemory(tuning);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->settlement->id, *second);
}

TEST_P(StoreContract, KeepsADemotedSettlementWithItsStory) {
  const TuningId tuning = PutTuning();
  const uint64_t id = *store().PutSettlement(tuning, samples::Settlement());
  ASSERT_TRUE(store().Demote(id, "failed a probe in service").ok());
  EXPECT_EQ(store().LoadMemory(tuning)->settlement, std::nullopt);
  auto rows = reader().Settlements({});
  ASSERT_THAT(*rows, SizeIs(1));
  EXPECT_EQ(rows->front().state, SettlementState::kDemoted);
  EXPECT_EQ(rows->front().state_reason, "failed a probe in service");
  EXPECT_EQ(store().Demote(id + 1, "").code(), absl::StatusCode::kNotFound);
}

TEST_P(StoreContract, RemembersEverythingATuningNeeds) {
  const TuningId tuning = PutTuning();
  const uint64_t id = *store().PutSettlement(tuning, samples::Settlement());
  ASSERT_TRUE(store().PutDriftTimer(tuning, {id, 500, 20}).ok());
  ASSERT_TRUE(store().PutDriftTimer(tuning, {id, 1000, 900}).ok());
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
  ASSERT_TRUE(store().PutRace(tuning, samples::Race(1)).ok());
  ASSERT_TRUE(store().PutRace(tuning, samples::Race(2)).ok());
  ASSERT_TRUE(store().PutRace(tuning, samples::Race(2)).ok());
  ASSERT_TRUE(store().PutSurrogate(tuning, {1, 0, 255}).ok());
  auto memory = store().LoadMemory(tuning);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->workload, samples::DigestOf(3));
  EXPECT_EQ(memory->settlement->id, id);
  EXPECT_EQ(memory->candidate, std::nullopt);
  EXPECT_EQ(memory->drift, (planner::DriftTimer{id, 1000, 900}));
  EXPECT_THAT(memory->plans, ElementsAre(samples::Plan()));
  EXPECT_EQ(memory->races, 2u);
  EXPECT_THAT(memory->surrogate, ElementsAre(1, 0, 255));
  EXPECT_EQ(memory->damaged_rows, 0u);
  EXPECT_EQ(*reader().Drift(static_cast<int64_t>(id)), memory->drift);
}

// Rows may be missing: a race that was under way when the daemon died, or rows given up on a full
// disk. Ids above all that were given keep a later race off the evidence of an earlier one.
TEST_P(StoreContract, RemembersTheHighestRaceAndEveryCheckAlsoWhereRacesAreMissing) {
  const TuningId tuning = PutTuning();
  EXPECT_EQ(store().LoadMemory(tuning)->races, 0u);
  EXPECT_EQ(store().LoadMemory(tuning)->checks, 0u);
  const auto put = [&](TuningId of, planner::RaceId id, planner::RaceKind kind) {
    planner::RaceRecord race = samples::Race(id);
    race.kind = kind;
    ASSERT_TRUE(store().PutRace(of, race).ok());
  };
  put(tuning, 1, planner::RaceKind::kSearch);
  put(tuning, 2, planner::RaceKind::kVerification);
  put(tuning, 5, planner::RaceKind::kReplication);
  put(tuning, 6, planner::RaceKind::kDrift);
  put(PutTuning(samples::Key(1001)), 9, planner::RaceKind::kReplication);
  const auto memory = store().LoadMemory(tuning);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->races, 6u);
  EXPECT_EQ(memory->checks, 4u) << "two of the rows, and races 3 and 4";
}

TEST_P(StoreContract, RefusesADriftTimerOfAnUnknownSettlement) {
  const TuningId tuning = PutTuning();
  EXPECT_EQ(store().PutDriftTimer(tuning, {99, 1, 1}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(StoreContract, OffersAnothersWinAsACandidateOnly) {
  const TuningId mine = PutTuning(samples::Key(1000));
  const TuningId theirs = PutTuning(samples::Key(1001));
  const uint64_t id = *store().PutSettlement(theirs, samples::Settlement());
  auto memory = store().LoadMemory(mine);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->settlement, std::nullopt);
  ASSERT_TRUE(memory->candidate.has_value());
  EXPECT_EQ(memory->candidate->id, id);
}

TEST_P(StoreContract, OffersNoCandidateOfAnotherContractNorANoWinner) {
  const TuningId mine = PutTuning(samples::Key(1000));
  TuningKey other = samples::Key(1001);
  other.contract = planner::Contract::kBitwise;
  ASSERT_TRUE(store().PutSettlement(PutTuning(other), samples::Settlement()).ok());
  ASSERT_TRUE(store()
                  .PutSettlement(PutTuning(samples::Key(1002)),
                                 samples::Settlement(planner::SettlementKind::kNoWinner))
                  .ok());
  EXPECT_EQ(store().LoadMemory(mine)->candidate, std::nullopt);
}

TEST_P(StoreContract, ShowsAUserItsOwnRowsOnly) {
  const TuningId mine = PutTuning(samples::Key(1000, 3));
  const TuningId theirs = PutTuning(samples::Key(1001, 5));
  for (const TuningId tuning : {mine, theirs}) {
    ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
    ASSERT_TRUE(store().PutRace(tuning, samples::Race()).ok());
    ASSERT_TRUE(store().PutSettlement(tuning, samples::Settlement()).ok());
    ASSERT_TRUE(store().PutEvent(samples::Event(tuning, "race_won")).ok());
  }
  ASSERT_TRUE(store().PutEvent(samples::Event(0, "daemon_started")).ok());
  Page page;
  page.owner = Owner{1000, ""};
  ASSERT_THAT(*reader().Plans(page), SizeIs(1));
  EXPECT_EQ(reader().Plans(page)->front().tuning, mine);
  EXPECT_EQ(reader().Races(page)->front().tuning, mine);
  EXPECT_THAT(*reader().Races(page), SizeIs(1));
  EXPECT_THAT(*reader().Settlements(page), SizeIs(1));
  ASSERT_THAT(*reader().Workloads(page), SizeIs(1));
  EXPECT_EQ(reader().Workloads(page)->front().row.spec.fingerprint, samples::DigestOf(3));
  EXPECT_THAT(*reader().Graphs(page), SizeIs(1));
  page.owner = Owner{1002, ""};
  EXPECT_THAT(*reader().Graphs(page), IsEmpty());
  EXPECT_THAT(*reader().Workloads(page), IsEmpty());
  EventPage events;
  EXPECT_THAT(*reader().Events(events), SizeIs(3));
  events.owner = Owner{1001, ""};
  ASSERT_THAT(*reader().Events(events), SizeIs(1));
  EXPECT_EQ(reader().Events(events)->front().tuning, theirs);
}

TEST_P(StoreContract, ShowsARootOfAContainerNothingOfTheHosts) {
  TuningKey host = samples::Key(0, 3);
  TuningKey boxed = samples::Key(0, 5);
  boxed.principal = "uid:0 container:1234";
  for (const TuningKey& key : {host, boxed}) {
    const TuningId tuning = PutTuning(key);
    ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
    ASSERT_TRUE(store().PutEvent(samples::Event(tuning, "x")).ok());
  }
  Page page;
  page.owner = Owner{0, boxed.principal};
  EXPECT_THAT(*reader().Plans(page), SizeIs(1));
  ASSERT_THAT(*reader().Workloads(page), SizeIs(1));
  EXPECT_EQ(reader().Workloads(page)->front().row.spec.fingerprint, samples::DigestOf(5));
  EXPECT_THAT(*reader().Graphs(page), SizeIs(1));
  EventPage events;
  events.owner = page.owner;
  EXPECT_THAT(*reader().Events(events), SizeIs(1));
  page.owner->principal = "uid:0 container:9";
  EXPECT_THAT(*reader().Workloads(page), IsEmpty());
  EXPECT_THAT(*reader().Graphs(page), IsEmpty());
}

TEST_P(StoreContract, ShowsTheRowsOfOneWorkload) {
  const TuningId one = PutTuning(samples::Key(1000, 3));
  const TuningId two = PutTuning(samples::Key(1000, 5));
  ASSERT_TRUE(store().PutPlan(one, samples::Plan()).ok());
  ASSERT_TRUE(store().PutPlan(two, samples::Plan()).ok());
  ASSERT_TRUE(store().PutSettlement(two, samples::Settlement()).ok());
  ASSERT_TRUE(store().PutEvent(samples::Event(two, "settled")).ok());
  Page page;
  page.workload_hex = DigestToHex(samples::DigestOf(5)).substr(0, 5);
  ASSERT_THAT(*reader().Plans(page), SizeIs(1));
  EXPECT_EQ(reader().Plans(page)->front().tuning, two);
  ASSERT_THAT(*reader().Workloads(page), SizeIs(1));
  ASSERT_TRUE(reader().Workloads(page)->front().settlement.has_value());
  EXPECT_THAT(*reader().Graphs(page), SizeIs(1));
  EventPage events;
  events.workload_hex = page.workload_hex;
  EXPECT_THAT(*reader().Events(events), SizeIs(1));
  page.workload_hex = "no hex";
  EXPECT_EQ(reader().Plans(page).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(reader().Workloads(page).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(StoreContract, PagesFromTheNewestRowDownWithoutAGap) {
  const TuningId tuning = PutTuning();
  for (planner::RaceId id = 1; id <= 7; ++id) {
    ASSERT_TRUE(store().PutRace(tuning, samples::Race(id, 1)).ok());
  }
  Page page;
  page.limit = 3;
  std::vector<planner::RaceId> seen;
  for (;;) {
    auto races = reader().Races(page);
    ASSERT_TRUE(races.ok()) << races.status();
    if (races->empty()) break;
    for (const StoredRace& race : *races) seen.push_back(race.record.id);
    page.before = races->back().id;
  }
  EXPECT_THAT(seen, ElementsAre(7, 6, 5, 4, 3, 2, 1));
}

TEST_P(StoreContract, FollowsEventsInOrderFromAnyPlace) {
  const TuningId tuning = PutTuning();
  EXPECT_EQ(*reader().LastEventId(), 0);
  for (const char* kind : {"a", "b", "c"}) {
    ASSERT_TRUE(store().PutEvent(samples::Event(tuning, kind)).ok());
  }
  EventPage page;
  page.limit = 2;
  auto events = reader().Events(page);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_THAT(*events, SizeIs(2));
  EventRow expected = samples::Event(tuning, "a");
  expected.id = events->front().id;
  EXPECT_EQ(events->front(), expected);
  page.after = events->back().id;
  events = reader().Events(page);
  ASSERT_THAT(*events, SizeIs(1));
  EXPECT_EQ(events->front().kind, "c");
  EXPECT_EQ(events->front().id, *reader().LastEventId());
}

TEST_P(StoreContract, PrunesEventsButNeverReusesTheirIds) {
  const TuningId tuning = PutTuning();
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(store().PutEvent(samples::Event(tuning, "tick")).ok());
  }
  auto removed = store().Prune();
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(*removed, 4u);
  EXPECT_EQ(*store().Prune(), 0u);
  auto events = reader().Events({});
  ASSERT_THAT(*events, SizeIs(5));
  EXPECT_EQ(events->front().id, 5);
  EXPECT_EQ(*store().PutEvent(samples::Event(tuning, "tick")), 10);
}

TEST_P(StoreContract, PrunesRawPairsButKeepsASettlementsEvidence) {
  const TuningId settled = PutTuning(samples::Key(1000));
  const TuningId open = PutTuning(samples::Key(1001));
  for (planner::RaceId id = 1; id <= 4; ++id) {
    ASSERT_TRUE(store().PutRace(settled, samples::Race(id)).ok());
    ASSERT_TRUE(store().PutRace(open, samples::Race(id)).ok());
  }
  ASSERT_TRUE(store().PutSettlement(settled, samples::Settlement()).ok());
  EXPECT_EQ(*store().Prune(), 2u);
  auto races = reader().Races({});
  ASSERT_THAT(*races, SizeIs(8)) << "the races stay, with their quantiles";
  for (const StoredRace& race : *races) {
    const bool kept = race.tuning == settled || race.record.id > 2;
    EXPECT_EQ(reader().LoadPairs(race.id).ok(), kept) << race.record.id;
    EXPECT_GT(race.champion_ns.p50, 0);
  }
}

TEST_P(StoreContract, ShowsNothingBeforeTheCommit) {
  const TuningId tuning = PutTuning();
  ASSERT_TRUE(store().Begin().ok());
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
  EXPECT_THAT(*reader().Plans({}), IsEmpty());
  EXPECT_THAT(store().LoadMemory(tuning)->plans, SizeIs(1)) << "the writer sees its own rows";
  ASSERT_TRUE(store().Commit(Durability::kSynced).ok());
  EXPECT_THAT(*reader().Plans({}), SizeIs(1));
}

TEST_P(StoreContract, RollsBackAllOfATransaction) {
  const TuningId tuning = PutTuning();
  ASSERT_TRUE(store().Begin().ok());
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
  ASSERT_TRUE(store().PutEvent(samples::Event(tuning, "a")).ok());
  store().Rollback();
  EXPECT_THAT(*reader().Plans({}), IsEmpty());
  EXPECT_THAT(store().LoadMemory(tuning)->plans, IsEmpty());
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan(2)).ok());
  EXPECT_THAT(*reader().Plans({}), SizeIs(1));
}

TEST_P(StoreContract, GoesOnAfterARefusedRow) {
  const TuningId tuning = PutTuning();
  ASSERT_TRUE(store().Begin().ok());
  EXPECT_FALSE(store().PutPlan(99, samples::Plan()).ok());
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
  ASSERT_TRUE(store().Commit(Durability::kBatched).ok());
  EXPECT_THAT(*reader().Plans({}), SizeIs(1));
}

TEST_P(StoreContract, RefusesTransactionsOutOfOrder) {
  const auto code = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(store().Commit(Durability::kBatched).code(), code);
  store().Rollback();
  ASSERT_TRUE(store().Begin().ok());
  EXPECT_EQ(store().Begin().code(), code);
  EXPECT_EQ(store().Prune().status().code(), code);
  ASSERT_TRUE(store().Commit(Durability::kBatched).ok());
}

TEST_P(StoreContract, TellsASessionsWholeStory) {
  const TuningId tuning = PutTuning();
  const auto session = *store().NewSessionId();
  ASSERT_TRUE(store().PutSession(samples::Session(session, tuning)).ok());
  ASSERT_TRUE(store().PutForecast(tuning, {session, samples::Forecast()}).ok());
  ASSERT_TRUE(store().PutPlan(tuning, samples::Plan()).ok());
  ASSERT_TRUE(store().PutRace(tuning, samples::Race()).ok());
  ASSERT_TRUE(
      store()
          .PutVariant(tuning, session, 1, samples::Plan().plan, samples::DigestOf(60), 10, 20, "")
          .ok());
  ASSERT_TRUE(
      store().PutProbe(tuning, {session, samples::Plan().plan, samples::Comparison(), 99}).ok());
  const uint64_t id = *store().PutSettlement(tuning, samples::Settlement());
  ASSERT_TRUE(store().PutOutcome(tuning, samples::Outcome(session, id)).ok());
  auto story = reader().Story(session);
  ASSERT_TRUE(story.ok()) << story.status();
  EXPECT_EQ(story->session, samples::Session(session, tuning));
  EXPECT_EQ(story->key, samples::Key());
  EXPECT_EQ(story->workload, samples::Workload());
  EXPECT_THAT(story->graphs, ElementsAre(samples::Graph(), samples::Graph()));
  EXPECT_EQ(story->environment, samples::Environment());
  EXPECT_EQ(story->forecast, samples::Forecast());
  ASSERT_TRUE(story->outcome.has_value());
  EXPECT_EQ(story->outcome->record, samples::Outcome(session, id));
  EXPECT_EQ(story->settlement->record.id, id);
  EXPECT_THAT(story->plans, SizeIs(1));
  EXPECT_THAT(story->races, SizeIs(1));
  EXPECT_EQ(reader().Story(session + 1).status().code(), absl::StatusCode::kNotFound);
  // The story keeps the settlement that it ended with, whatever is settled and demoted later.
  const uint64_t later = *store().PutSettlement(tuning, samples::Settlement());
  ASSERT_NE(later, id);
  EXPECT_EQ(reader().Story(session)->settlement->record.id, id);
  ASSERT_TRUE(store().Demote(later, "slower by now").ok());
  EXPECT_EQ(reader().Story(session)->settlement->record.id, id);
}

TEST_P(StoreContract, TellsTheStoryOfASessionThatWasNeverDescribed) {
  ASSERT_TRUE(store().PutSession(samples::Session(1, 0)).ok());
  auto story = reader().Story(1);
  ASSERT_TRUE(story.ok()) << story.status();
  EXPECT_THAT(story->plans, IsEmpty());
  EXPECT_FALSE(story->outcome.has_value());
}

INSTANTIATE_TEST_SUITE_P(All, StoreContract,
                         ::testing::Values(Kind{"Memory", &MakeMemory},
                                           Kind{"Sqlite", &MakeSqlite}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace blazed::storage
