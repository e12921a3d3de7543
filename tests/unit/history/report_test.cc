#include "daemon/history/report.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/memory/memory_store.h"
#include "tests/contract/storage/samples.h"
#include "tests/unit/history/settled_story.h"

namespace blazed::history {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Report, HasEveryFieldThatOthersRead) {
  const Json job = JobReport(Settled());
  for (const char* field :
       {"role", "outcome", "settlement", "plan", "default_step_ns", "settled_step_ns", "gain",
        "equivalence", "boundaries", "search_pairs", "replication_pairs", "window_s", "regret_s",
        "build_s", "probe_s", "drain_s", "forecast", "break_even_steps", "plans"}) {
    EXPECT_TRUE(job.contains(field)) << field;
  }
  for (const char* field : {"estimate", "low", "high"}) EXPECT_TRUE(job["gain"].contains(field));
  for (const char* field : {"window_s", "builds", "resolvable"}) {
    EXPECT_TRUE(job["forecast"].contains(field)) << field;
  }
  for (const Json& plan : job["plans"]) {
    for (const char* field : {"plan", "signature", "verdict", "reason", "pairs"}) {
      EXPECT_TRUE(plan.contains(field)) << field;
    }
  }
}

TEST(Report, TellsTheWinnerInReadableNames) {
  const Json job = JobReport(Settled());
  EXPECT_EQ(job["outcome"], "settled");
  EXPECT_EQ(job["settlement"], "in_job");
  EXPECT_EQ(job["plan"], Json({"attention/forward=streamed"}));
  EXPECT_EQ(job["equivalence"], "rounding");
  EXPECT_EQ(job["boundaries"], 1);
  EXPECT_EQ(job["decisions"], 2);
  EXPECT_EQ(job["search_pairs"], 600);
  EXPECT_EQ(job["replication_pairs"], 40);
  EXPECT_DOUBLE_EQ(job["gain"]["low"].get<double>(), 0.04);
  EXPECT_DOUBLE_EQ(job["break_even_steps"].get<double>(), 1234.5);
  EXPECT_EQ(job["served"], false);
}

TEST(Report, TellsWhatExploringTookOfItsBudget) {
  storage::Reader::SessionStory story = Settled();
  story.outcome->record.cost.budget_spent = std::chrono::milliseconds(2500);
  story.outcome->record.cost.budget_allowed = std::chrono::seconds(181);
  EXPECT_EQ(JobReport(story)["budget"], Json({{"spent_s", 2.5}, {"allowed_s", 181.0}}));
  story.outcome->record.cost.budget_allowed = planner::Nanos(0);
  EXPECT_TRUE(JobReport(story)["budget"].is_null()) << "a row of an earlier version";
}

TEST(Report, ShowsLosersAndDuplicatesWithTheirReasons) {
  const Json job = JobReport(Settled());
  ASSERT_EQ(job["plans"].size(), 3u);
  EXPECT_EQ(job["plans"][1]["verdict"], "lost");
  EXPECT_EQ(job["plans"][2]["verdict"], "duplicate");
  EXPECT_EQ(job["plans"][2]["reason"], "ran the same as plan 1");
  EXPECT_EQ(job["plans"][2]["plan"], Json({"ln.1|gemm.2=cut", "attention/forward=blocked"}));
}

TEST(Report, GivesNoWinnerAsAFullAnswer) {
  storage::Reader::SessionStory story = Settled();
  story.outcome->record.outcome = planner::Outcome::kNoWinner;
  story.settlement->record.kind = planner::SettlementKind::kNoWinner;
  story.settlement->record.plan = {};
  story.settlement->record.gain = {};
  const Json job = JobReport(story);
  EXPECT_EQ(job["outcome"], "no_winner");
  EXPECT_EQ(job["plan"], Json::array());
  EXPECT_TRUE(job["gain"].is_null());
  EXPECT_TRUE(job["break_even_steps"].is_null());
  EXPECT_EQ(job["equivalence"], "nothing_to_check");
  EXPECT_GT(job["default_step_ns"].get<double>(), 0);
}

TEST(Report, CallsAServedJobSettledWithTheStoredKindAndItsOwnCosts) {
  storage::Reader::SessionStory story = Settled();
  story.session.id = 2;
  story.session.process = "boot-1 4343 999";
  story.outcome->record = samples::Outcome(2, 1);
  story.outcome->record.outcome = planner::Outcome::kServed;
  story.outcome->record.cost = {};
  story.outcome->record.cost.replication_pairs = 12;
  const Json job = JobReport(story);
  EXPECT_EQ(job["outcome"], "settled");
  EXPECT_EQ(job["settlement"], "in_job");
  EXPECT_EQ(job["search_pairs"], 0);
  EXPECT_EQ(job["replication_pairs"], 12);
  EXPECT_EQ(job["served"], true);
  EXPECT_TRUE(job["break_even_steps"].is_null()) << "the first job paid for the search";
  EXPECT_EQ(job["race_list"], Json::array()) << "the first job's races are not this one's";
}

// After a restart of the daemon the job has another session, and the search is still its own.
TEST(Report, AJobThatTheDaemonWasRestartedUnderWasServedByNobody) {
  storage::Reader::SessionStory story = Settled();
  const storage::SessionRow founder = story.session;
  story.session.id = 2;
  story.outcome->record = samples::Outcome(2, 1);
  story.outcome->record.outcome = planner::Outcome::kServed;
  const auto served = [&](const std::optional<storage::SessionRow>& by) {
    Beside beside;
    beside.founder = by;
    const Json job = JobReport(story, beside);
    EXPECT_EQ(job["served"].get<bool>(), job["break_even_steps"].is_null());
    return job["served"].get<bool>();
  };
  EXPECT_FALSE(served(founder));
  EXPECT_TRUE(served(std::nullopt)) << "the row is gone";
  storage::SessionRow other = founder;
  other.process = "boot-1 4343 999";
  EXPECT_TRUE(served(other));
  other = founder;
  other.job = "another run";
  EXPECT_TRUE(served(other));
}

TEST(Report, DoesNotLendAnUndecidedJobTheSettlementOfAnother) {
  storage::Reader::SessionStory story = Settled();
  story.outcome->record.outcome = planner::Outcome::kUndecided;
  const Json job = JobReport(story);
  EXPECT_EQ(job["outcome"], "undecided");
  EXPECT_TRUE(job["settlement"].is_null());
  EXPECT_TRUE(job["gain"].is_null());
}

storage::StoredRace RaceOf(planner::SessionId session, planner::RaceKind kind,
                           planner::RaceOutcome outcome, planner::Plan champion,
                           planner::Plan challenger) {
  storage::StoredRace race;
  race.tuning = 1;
  race.record = samples::Race();
  race.record.session = session;
  race.record.kind = kind;
  race.record.outcome = outcome;
  race.record.champion = std::move(champion);
  race.record.challenger = std::move(challenger);
  return race;
}

// A session that ended, or goes on, with what its races left it.
storage::Reader::SessionStory Undecided(std::vector<storage::StoredRace> races) {
  storage::Reader::SessionStory story = Settled();
  story.outcome->record.outcome = planner::Outcome::kUndecided;
  story.outcome->record.settlement = 0;
  story.settlement.reset();
  for (storage::StoredPlan& plan : story.plans) plan.record.verdict = planner::Verdict::kLost;
  story.plans[0].record.verdict = planner::Verdict::kWon;
  story.races = std::move(races);
  return story;
}

TEST(Report, AnUndecidedSessionRunsThePlanThatWonItsLastRace) {
  using enum planner::RaceKind;
  using enum planner::RaceOutcome;
  const planner::Plan streamed = {{1, 1}}, other = {{0, 1}};
  const Json kept = Json({"attention/forward=streamed"});
  const Json none = Json::array();
  struct Case {
    const char* what;
    std::vector<storage::StoredRace> races;
    Json plan;
  };
  const std::vector<Case> cases = {
      {"no race", {}, none},
      {"won", {RaceOf(1, kSearch, kWon, {}, streamed)}, kept},
      {"won, then another lost against it",
       {RaceOf(1, kSearch, kWon, {}, streamed), RaceOf(1, kSearch, kLost, streamed, other)},
       kept},
      {"the champion of an earlier session", {RaceOf(1, kSearch, kLost, streamed, other)}, kept},
      {"not there when verified",
       {RaceOf(1, kSearch, kWon, {}, streamed), RaceOf(1, kVerification, kUndecided, {}, streamed)},
       none},
      {"lost after its rebuild",
       {RaceOf(1, kSearch, kWon, {}, streamed), RaceOf(1, kReplication, kLost, {}, streamed)},
       none},
      {"neither after its rebuild",
       {RaceOf(1, kSearch, kWon, {}, streamed), RaceOf(1, kReplication, kUndecided, {}, streamed)},
       kept},
      {"won by another session", {RaceOf(2, kSearch, kWon, {}, streamed)}, none},
      {"a control that was won",
       {RaceOf(1, kSearch, kWon, {}, streamed), RaceOf(1, kSham, kWon, streamed, other)},
       kept},
      {"not there in long dwells",
       {RaceOf(1, kReplication, kWon, {}, streamed), RaceOf(1, kDwell, kLost, {}, streamed)},
       none},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    storage::Reader::SessionStory story = Undecided(c.races);
    EXPECT_EQ(JobReport(story)["plan"], c.plan);
    story.outcome.reset();
    EXPECT_EQ(JobReport(story)["plan"], c.plan) << "while it goes on";
    // What the tuning settled later is another session's.
    story.plans[0].record.verdict = planner::Verdict::kChampion;
    EXPECT_EQ(JobReport(story)["plan"], c.plan);
  }
  storage::Reader::SessionStory rejected = Undecided({RaceOf(1, kSearch, kWon, {}, streamed)});
  rejected.plans[0].record.verdict = planner::Verdict::kRejectedDifferent;
  EXPECT_EQ(JobReport(rejected)["plan"], none);
}

TEST(Report, CountsFinishedRacesWhereThereIsNoOutcomeYet) {
  storage::Reader::SessionStory story = Settled();
  story.outcome.reset();
  storage::StoredRace replication = story.races.front();
  replication.record.kind = planner::RaceKind::kReplication;
  replication.pair_count = 7;
  story.races.push_back(replication);
  const Json job = JobReport(story);
  EXPECT_EQ(job["outcome"], "undecided");
  EXPECT_EQ(job["search_pairs"], 20);
  EXPECT_EQ(job["replication_pairs"], 7);
}

TEST(Report, NamesWhatEveryPairWasFor) {
  storage::Reader::SessionStory story = Settled();
  story.outcome->record.cost.races = 1;
  const Json uses = JobReport(story)["pairs_by_use"];
  EXPECT_EQ(uses["noise"], 32);
  EXPECT_EQ(uses["verification_races"], 20);
  EXPECT_EQ(uses["late"], 13);
  int64_t sum = 0;
  for (const Json& count : uses) sum += count.get<int64_t>();
  EXPECT_EQ(sum, 600 + 40);
  story.races.push_back(RaceOf(1, planner::RaceKind::kSham, planner::RaceOutcome::kLost, {}, {}));
  story.races.back().pair_count = 24;
  story.races.push_back(RaceOf(2, planner::RaceKind::kDwell, planner::RaceOutcome::kWon, {}, {}));
  story.races.back().pair_count = 8;  // blocks, in no race's count
  story.outcome->record.cost.races = 2;
  EXPECT_EQ(JobReport(story)["pairs_by_use"]["sham_races"], 24);
  EXPECT_EQ(JobReport(story)["pairs_by_use"]["proposals"], uses["proposals"].get<int64_t>() - 24);
  story.outcome->record.cost.search_pairs = 1;
  story.outcome->record.cost.replication_pairs = 0;
  EXPECT_TRUE(JobReport(story)["pairs_by_use"].is_null()) << "its races show more";
}

// One race of session 1 to which session 2 gave 8 of its 20 pairs.
struct SharedRace {
  SharedRace() {
    const auto tuning = samples::PutTuningWithParents(store, samples::Key());
    EXPECT_TRUE(tuning.ok());
    planner::RaceRecord race = samples::Race();
    for (size_t i = 0; i < 8; ++i) race.pairs[i].session = 2;
    EXPECT_TRUE(store.PutRace(*tuning, race).ok());
    reader = store.NewReader();
    story = Settled();
    story.races = reader->Races({}).value();
    story.outcome->record.cost.races = 1;
  }
  Json UsesOf(planner::SessionId session) {
    story.session.id = session;
    Beside beside;
    beside.given = GivenPairs(*reader, story);
    return JobReport(story, beside)["pairs_by_use"];
  }
  storage::MemoryStore store;
  std::unique_ptr<storage::Reader> reader;
  storage::Reader::SessionStory story;
};

TEST(Report, CountsOnlyAJobsOwnPairsOfARaceThatOthersGaveTo) {
  SharedRace shared;
  const Json uses = shared.UsesOf(1);
  EXPECT_EQ(uses["verification_races"], 12);
  EXPECT_EQ(uses["noise"].get<int>() + uses["proposals"].get<int>() + uses["late"].get<int>(),
            600 + 40 - 12);
  // All of the totals are evidence: what others gave must not make them look too small.
  planner::CostRecord& cost = shared.story.outcome->record.cost;
  cost.search_pairs = cost.noise_pairs + cost.late_pairs + 12;
  cost.replication_pairs = 0;
  EXPECT_EQ(shared.UsesOf(1)["proposals"], 0);
}

TEST(Report, CountsWhatAJobGaveToTheRacesOfOthers) {
  SharedRace shared;
  shared.story.outcome->record.cost.races = 0;
  EXPECT_EQ(shared.UsesOf(2)["verification_races"], 8);
  EXPECT_EQ(shared.UsesOf(3)["verification_races"], 0);
}

TEST(Report, ARaceWithoutItsRawPairsCountsAsItsOwnSessions) {
  SharedRace shared;
  shared.story.races.front().id += 1;
  EXPECT_EQ(shared.UsesOf(1)["verification_races"], 20);
  shared.story.outcome->record.cost.races = 0;
  EXPECT_EQ(shared.UsesOf(2)["verification_races"], 0);
}

TEST(Report, CountsTheListOfRacesByKind) {
  storage::Reader::SessionStory story = Settled();
  story.races.push_back(RaceOf(1, planner::RaceKind::kDwell, planner::RaceOutcome::kWon, {}, {}));
  story.races.push_back(
      RaceOf(1, planner::RaceKind::kDrift, planner::RaceOutcome::kWon, {{0, 1}}, {}));
  story.races.push_back(
      RaceOf(1, planner::RaceKind::kDrift, planner::RaceOutcome::kLost, {}, {{0, 1}}));
  story.races.push_back(RaceOf(2, planner::RaceKind::kSearch, planner::RaceOutcome::kWon, {}, {}));
  story.outcome.reset();
  const Json job = JobReport(story);
  EXPECT_EQ(job["races"], 1) << "of the search; its checks are apart";
  EXPECT_EQ(job["races_by_kind"], Json({{"search", 0},
                                        {"verification", 1},
                                        {"replication", 0},
                                        {"sham", 0},
                                        {"dwell", 1},
                                        {"drift", 1},
                                        {"return", 1}}));
  int64_t listed = 0;
  for (const Json& count : job["races_by_kind"]) listed += count.get<int64_t>();
  EXPECT_EQ(listed, static_cast<int64_t>(job["race_list"].size()));
}

TEST(Report, SaysWhyASettlementCouldNotBeKept) {
  storage::Reader::SessionStory story = Settled();
  story.outcome.reset();  // its row waits for the disk as well
  story.settlement.reset();
  Beside beside;
  beside.outage = "the store cannot be written since noon: free space";
  EXPECT_EQ(JobReport(story, beside)["reason"],
            "what was measured last is not in this report, because the store cannot be written "
            "since noon: free space");
  beside.ended = "no plan could be built";
  EXPECT_THAT(JobReport(story, beside)["reason"].get<std::string>(),
              HasSubstr("no plan could be built; what was measured last is not in this report"));
  beside.not_kept = "the settlement could not be kept: database or disk is full";
  const Json job = JobReport(story, beside);
  EXPECT_EQ(job["outcome"], "undecided");
  EXPECT_EQ(job["reason"], beside.not_kept);
}

TEST(Report, NamesNoUseOfPairsWhereItsRacesAreNotThoseOfTheCosts) {
  storage::Reader::SessionStory story = Settled();
  planner::CostRecord& cost = story.outcome->record.cost;
  const auto named = [&story] { return !JobReport(story)["pairs_by_use"].is_null(); };
  cost.races = 1;
  ASSERT_TRUE(named());
  cost.races = 2;
  EXPECT_FALSE(named()) << "a race has no row";
  cost.races = 0;
  EXPECT_FALSE(named()) << "the costs began again behind a demotion";
  cost.races = 1;
  storage::StoredRace check = story.races.front();
  check.record.kind = planner::RaceKind::kDrift;
  story.races.push_back(check);
  EXPECT_TRUE(named()) << "a drift check is no cost of the search";
  cost.noise_pairs = cost.late_pairs = 0;
  EXPECT_FALSE(named()) << "as the first schema kept it";
  cost = {};
  story.races.clear();
  EXPECT_TRUE(named()) << "nothing was paid";
}

TEST(Report, TellsWhatASearchThatGoesOnHasCostSoFar) {
  storage::Reader::SessionStory story = Settled();
  Beside beside;
  planner::CostRecord& so_far = beside.so_far = story.outcome->record.cost;
  so_far.races = 1;
  story.outcome.reset();
  const Json job = JobReport(story, beside);
  EXPECT_EQ(job["outcome"], "undecided");
  EXPECT_THAT(job["reason"].get<std::string>(), HasSubstr("had not ended"));
  EXPECT_EQ(job["search_pairs"], 600);
  EXPECT_EQ(job["builds"], so_far.builds);
  EXPECT_EQ(job["probes"], so_far.probes);
  EXPECT_GT(job["window_s"].get<double>(), 0);
  EXPECT_TRUE(job["pairs_by_use"].is_null()) << "a race of these pairs may be open";
  EXPECT_TRUE(job["forecast"]["score"].is_null()) << "a part is not scored against the whole";
}

TEST(Report, ASessionWithoutAWorkloadHadNothingToSearchFor) {
  storage::Reader::SessionStory story;
  story.session = samples::Session(1, 0);
  story.session.mode = planner::Mode::kTune;
  const Json job = JobReport(story);
  EXPECT_EQ(job["outcome"], "undecided");
  EXPECT_EQ(job["reason"], "the job has described no workload, so there was nothing to search for");
}

// The session that a job has behind a restart of the daemon, which had no time to prove the plan.
storage::Reader::SessionStory CameBack() {
  storage::Reader::SessionStory story = Settled();
  story.session.id = 2;
  story.outcome.reset();
  story.forecast.reset();
  return story;
}

TEST(Report, AJobThatCameBackAfterItSettledHasItsAnswer) {
  Beside beside;
  beside.founder = Settled().session;
  const Json job = JobReport(CameBack(), beside);
  EXPECT_EQ(job["outcome"], "settled");
  EXPECT_EQ(job["settlement"], "in_job");
  EXPECT_EQ(job["served"], false);
  EXPECT_FALSE(job["plan"].empty());
  EXPECT_FALSE(job["gain"].is_null());
  storage::Reader::SessionStory none = CameBack();
  none.settlement->record.kind = planner::SettlementKind::kNoWinner;
  none.settlement->record.plan.clear();
  EXPECT_EQ(JobReport(none, beside)["outcome"], "no_winner");
}

TEST(Report, ASettlementThatAJobDidNotTakeUpIsNoAnswerOfIts) {
  Beside beside;
  beside.founder = Settled().session;
  beside.founder->process += "x";
  const Json another = JobReport(CameBack(), beside);
  EXPECT_EQ(another["outcome"], "undecided");
  EXPECT_TRUE(another["plan"].empty());
  EXPECT_THAT(another["reason"].get<std::string>(), HasSubstr("had not built and proven the plan"));
  beside.founder = Settled().session;
  beside.so_far.search_pairs = 3;  // it searches again, under another default
  const Json searching = JobReport(CameBack(), beside);
  EXPECT_EQ(searching["outcome"], "undecided");
  EXPECT_THAT(searching["reason"].get<std::string>(), HasSubstr("the search had not ended"));
  beside.so_far = {};
  storage::Reader::SessionStory demoted = CameBack();
  demoted.settlement->state = storage::SettlementState::kDemoted;
  EXPECT_EQ(JobReport(demoted, beside)["outcome"], "undecided");
}

TEST(Report, ScoresTheForecast) {
  storage::Reader::SessionStory story = Settled();
  story.outcome->record.cost.window = std::chrono::seconds(40);
  story.outcome->record.cost.builds = 24;
  const Json score = JobReport(story)["forecast"]["score"];
  EXPECT_DOUBLE_EQ(score["window_ratio"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(score["builds_ratio"].get<double>(), 0.5);
  EXPECT_EQ(score["window_within_2x"], true);
  story.outcome->record.cost = {};
  EXPECT_TRUE(JobReport(story)["forecast"]["score"]["window_ratio"].is_null());
}

TEST(Report, IsJsonWhateverBytesAndNumbersTheStoryHolds) {
  storage::Reader::SessionStory story = Settled();
  story.plans[0].record.reason = "caf\xff\xfe";
  story.plans[0].record.comparison.max_rel = std::nan("");
  story.settlement->record.gain = {INFINITY, -INFINITY, std::nan("")};
  story.settlement->record.break_even_steps = INFINITY;
  storage::MemoryStore store;
  const Json read = Json::parse(JobReportText(*store.NewReader(), story), nullptr, false);
  ASSERT_FALSE(read.is_discarded());
  EXPECT_TRUE(read["break_even_steps"].is_null());
  EXPECT_TRUE(read["gain"]["low"].is_number());
}

TEST(Report, SaysOffForASessionThatOnlyObserved) {
  storage::Reader::SessionStory story;
  story.session = samples::Session(1, 0);
  story.session.mode = planner::Mode::kObserve;
  EXPECT_EQ(JobReport(story)["outcome"], "off");
  EXPECT_THAT(JobReport(story)["reason"].get<std::string>(), HasSubstr("only observed"));
}

// What one process settled for itself is not what another one will see.
TEST(Report, ADriftCheckHasNoAlpha) {
  storage::Reader::SessionStory story = Settled();
  EXPECT_DOUBLE_EQ(JobReport(story)["race_list"][0]["alpha"].get<double>(), 0.0125);
  EXPECT_EQ(JobReport(story)["race_list"][0]["warm_steps"], 2);
  EXPECT_EQ(JobReport(story)["race_list"][0]["timed_steps"], 8);
  story.races[0].record.alpha = 0;
  EXPECT_TRUE(JobReport(story)["race_list"][0]["alpha"].is_null());
}

}  // namespace
}  // namespace blazed::history
