#include "daemon/history/report.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "daemon/history/pair_uses.h"
#include "daemon/history/words.h"
#include "storage/digest_text.h"
#include "storage/plan_text.h"

namespace blazed::history {
namespace {

using planner::Outcome;
using planner::RaceKind;
using planner::SettlementKind;
using storage::Reader;
using storage::SessionRow;

double Seconds(planner::Nanos span) { return std::chrono::duration<double>(span).count(); }

// JSON knows no infinity; a required number that is none becomes zero.
double Finite(double value) { return std::isfinite(value) ? value : 0.0; }

Json FiniteOrNull(double value) { return std::isfinite(value) && value > 0 ? Json(value) : Json(); }

Json Signature(const planner::Digest& digest) {
  return digest == planner::Digest{} ? "" : storage::DigestToHex(digest);
}

Json IntervalJson(const planner::Interval& interval) {
  return {{"estimate", Finite(interval.estimate)},
          {"low", Finite(interval.low)},
          {"high", Finite(interval.high)}};
}

// The settlement that the session's outcome rests on: a session that is undecided rests on none,
// whatever another session of the same tuning has settled since.
const planner::SettlementRecord* Basis(const Reader::SessionStory& story) {
  if (!story.settlement.has_value() || !story.outcome.has_value()) return nullptr;
  if (story.outcome->record.outcome == Outcome::kUndecided) return nullptr;
  return &story.settlement->record;
}

// A restart of the daemon gives a job a session more, with the same name in the same process.
bool IsSameJob(const SessionRow& own, const std::optional<SessionRow>& founder) {
  return founder.has_value() && founder->uid == own.uid && !own.process.empty() &&
         founder->process == own.process && founder->job == own.job;
}

// Found by another job: this one got it for nothing, and owes nothing for the search.
bool IsServed(const Reader::SessionStory& story, const std::optional<SessionRow>& founder) {
  const planner::SettlementRecord* basis = Basis(story);
  if (basis == nullptr || basis->session == story.session.id) return false;
  return !IsSameJob(story.session, founder);
}

// A settlement is in force and this session has neither taken it up nor begun a search of its own.
bool AwaitsItsSettlement(const Reader::SessionStory& story, const Beside& beside) {
  const planner::CostRecord& so_far = beside.so_far;
  const bool in_force =
      story.settlement.has_value() && story.settlement->state == storage::SettlementState::kInForce;
  const bool searched =
      so_far.search_pairs + so_far.replication_pairs > 0 ||
      std::any_of(story.races.begin(), story.races.end(), [&](const storage::StoredRace& race) {
        return race.record.session == story.session.id;
      });
  return in_force && !searched && !story.outcome.has_value() && beside.not_kept.empty();
}

// A job that settled its workload keeps the plan over a restart of the daemon, and so its answer,
// also where it ends before its further session has proven the plan once more.
std::optional<Reader::SessionStory> WithItsEarlierAnswer(const Reader::SessionStory& story,
                                                         const Beside& beside) {
  if (!AwaitsItsSettlement(story, beside) || !IsSameJob(story.session, beside.founder)) {
    return std::nullopt;
  }
  Reader::SessionStory answered = story;
  const planner::SettlementRecord& record = story.settlement->record;
  const bool no_winner = record.kind == SettlementKind::kNoWinner;
  answered.outcome = storage::StoredOutcome{
      story.session.tuning,
      {story.session.id, no_winner ? Outcome::kNoWinner : Outcome::kSettled, record.id,
       beside.so_far, "this job's search ended in an earlier session of it"},
      0};
  return answered;
}

std::string OutcomeWord(const Reader::SessionStory& story) {
  if (story.session.mode == planner::Mode::kObserve) return "off";
  if (story.session.mode == planner::Mode::kPinned) return "pinned";
  if (!story.outcome.has_value()) return "undecided";
  const planner::SettlementRecord* basis = Basis(story);
  const bool no_winner = basis != nullptr && basis->kind == SettlementKind::kNoWinner;
  switch (story.outcome->record.outcome) {
    case Outcome::kSettled:
      return "settled";
    case Outcome::kNoWinner:
      return "no_winner";
    case Outcome::kServed:
      return no_winner ? "no_winner" : "settled";
    case Outcome::kUndecided:
      break;
  }
  return "undecided";
}

bool FailedItsProof(const Reader::SessionStory& story, const planner::Plan& plan) {
  return std::any_of(story.plans.begin(), story.plans.end(), [&](const auto& stored) {
    const planner::Verdict verdict = stored.record.verdict;
    return stored.record.plan == plan && (verdict == planner::Verdict::kRejectedDifferent ||
                                          verdict == planner::Verdict::kRejectedBroken ||
                                          verdict == planner::Verdict::kRejectedMemory);
  });
}

bool DecidesPlan(RaceKind kind) { return kind != RaceKind::kDrift && kind != RaceKind::kSham; }

// What a session that settled nothing was left with by its own races. A race for the search is run
// against the plan in use; one that verifies or replicates a plan is run against the default, and
// where it is lost the session falls back to that.
planner::Plan PlanLeftByRaces(const Reader::SessionStory& story) {
  planner::Plan in_use;
  for (const storage::StoredRace& race : story.races) {
    const planner::RaceRecord& record = race.record;
    if (record.session != story.session.id || !DecidesPlan(record.kind)) continue;
    const bool won = record.outcome == planner::RaceOutcome::kWon;
    const bool undecided = record.outcome == planner::RaceOutcome::kUndecided;
    if (won) {
      in_use = record.challenger;
    } else if (record.kind == RaceKind::kSearch) {
      in_use = record.champion;
    } else if (record.kind == RaceKind::kVerification || !undecided) {
      in_use = {};
    }
  }
  return FailedItsProof(story, in_use) ? planner::Plan{} : in_use;
}

// What the session ran at its end, or runs while it goes on.
planner::Plan FinalPlan(const Reader::SessionStory& story) {
  const planner::SettlementRecord* basis = Basis(story);
  return basis != nullptr ? basis->plan : PlanLeftByRaces(story);
}

Json EquivalenceOf(const Reader::SessionStory& story, const planner::Plan& plan) {
  if (plan.empty()) return Word(planner::Equivalence::kNothingToCheck);
  for (const storage::StoredPlan& stored : story.plans) {
    if (stored.record.plan == plan && stored.record.has_comparison) {
      return Word(stored.record.comparison.equivalence);
    }
  }
  return Json();
}

// An outcome has its costs. Before it there is what was said last, and without that what the store
// knows of finished races.
planner::CostRecord CostOf(const Reader::SessionStory& story, const planner::CostRecord& so_far) {
  if (story.outcome.has_value()) return story.outcome->record.cost;
  if (so_far != planner::CostRecord{}) return so_far;
  planner::CostRecord cost;
  for (const storage::StoredRace& race : story.races) {
    if (race.record.session != story.session.id) continue;
    if (!IsOfSearch(race.record.kind)) continue;
    ++cost.races;
    const bool replication = race.record.kind == RaceKind::kReplication;
    (replication ? cost.replication_pairs : cost.search_pairs) += race.pair_count;
  }
  return cost;
}

// How far off the forecast was: forecast over actual, and whether within a factor of two. Null
// where nothing happened.
Json Score(const planner::ForecastRecord& forecast, const planner::CostRecord& cost) {
  const auto ratio = [](double expected, double actual) {
    return actual > 0 && expected > 0 ? Json(expected / actual) : Json();
  };
  Json score;
  score["window_ratio"] = ratio(Seconds(forecast.window), Seconds(cost.window));
  score["builds_ratio"] = ratio(forecast.builds, cost.builds);
  score["regret_ratio"] = ratio(Seconds(forecast.regret), Seconds(cost.regret));
  const Json& window = score["window_ratio"];
  score["window_within_2x"] =
      window.is_null() ? Json() : Json(window.get<double>() >= 0.5 && window.get<double>() <= 2.0);
  return score;
}

// A search that was cut off says nothing about a forecast of the whole.
bool Ended(const Reader::SessionStory& story) {
  return story.outcome.has_value() && story.outcome->record.outcome != Outcome::kUndecided;
}

Json ForecastJson(const Reader::SessionStory& story, const planner::CostRecord& cost) {
  if (!story.forecast.has_value()) return Json();
  const planner::ForecastRecord& forecast = *story.forecast;
  return {{"window_s", Seconds(forecast.window)},
          {"builds", forecast.builds},
          {"regret_s", Seconds(forecast.regret)},
          {"resolvable", Finite(forecast.resolvable)},
          {"based_on", forecast.based_on},
          {"score", Ended(story) ? Score(forecast, cost) : Json()}};
}

Json PlanJson(const Reader::SessionStory& story, const planner::PlanRecord& record) {
  Json plan = {{"plan", storage::PlanNames(story.workload.spec, record.plan)},
               {"signature", Signature(record.signature)},
               {"verdict", Word(record.verdict)},
               {"reason", record.reason},
               {"pairs", record.pairs},
               {"build_s", Seconds(planner::Nanos(record.build_ns))},
               {"peak_bytes", record.peak_bytes}};
  if (record.has_comparison) {
    const planner::ComparisonSummary& summary = record.comparison;
    plan["equivalence"] = Word(summary.equivalence);
    plan["mismatches"] = summary.mismatches;
    plan["elements"] = summary.elements;
    plan["max_rel"] = Finite(summary.max_rel);
    plan["own_max_rel"] = Finite(summary.own_max_rel);
    plan["allowed_max_rel"] = Finite(summary.allowed_max_rel);
  }
  return plan;
}

Json RaceJson(const Reader::SessionStory& story, const storage::StoredRace& race) {
  const planner::RaceRecord& record = race.record;
  return {{"kind", KindWord(record)},
          {"champion", storage::PlanNames(story.workload.spec, record.champion)},
          {"challenger", storage::PlanNames(story.workload.spec, record.challenger)},
          {"outcome", Word(record.outcome)},
          {"reason", record.reason},
          {"pairs", race.pair_count},
          {"warm_steps", record.warm_steps},
          {"timed_steps", record.timed_steps},
          {"alpha", FiniteOrNull(record.alpha)},
          {"log_ratio", IntervalJson(record.effect)}};
}

std::string ReasonOf(const Reader::SessionStory& story, const Beside& beside) {
  if (story.outcome.has_value()) return story.outcome->record.reason;
  if (!beside.not_kept.empty()) return beside.not_kept;
  // Why less was granted than asked for is the shim's to say: it is in no row.
  if (story.session.mode == planner::Mode::kObserve) {
    return "the session only observed, so nothing was changed";
  }
  if (story.session.mode != planner::Mode::kTune) return "";
  if (!beside.outage.empty()) {
    const std::string ended = beside.ended.empty() ? "" : beside.ended + "; ";
    return ended + "what was measured last is not in this report, because " + beside.outage;
  }
  if (story.session.tuning == 0) {
    return "the job has described no workload, so there was nothing to search for";
  }
  if (AwaitsItsSettlement(story, beside)) {
    return "the workload is settled, and this job had not built and proven the plan in its own "
           "process when this report was made";
  }
  return "the search had not ended when this report was made; it goes on with this job or the next "
         "of its kind";
}

void AddAnswer(const Reader::SessionStory& story, const Beside& beside, bool served, Json& job) {
  const planner::SettlementRecord* basis = Basis(story);
  const planner::Plan plan = FinalPlan(story);
  const bool won = basis != nullptr && basis->kind != SettlementKind::kNoWinner;
  job["settlement"] = basis != nullptr ? Json(Word(basis->kind)) : Json();
  job["served"] = served;
  job["reason"] = ReasonOf(story, beside);
  job["plan"] = storage::PlanNames(story.workload.spec, plan);
  job["default_step_ns"] = basis != nullptr ? FiniteOrNull(basis->default_step_ns) : Json();
  job["settled_step_ns"] = basis != nullptr ? FiniteOrNull(basis->settled_step_ns) : Json();
  job["gain"] = won ? IntervalJson(basis->gain) : Json();
  job["equivalence"] = EquivalenceOf(story, plan);
  job["break_even_steps"] = won && !served ? FiniteOrNull(basis->break_even_steps) : Json();
}

// Every row of `race_list`. `races` counts those of the search: the first four kinds.
Json RacesByKind(const Reader::SessionStory& story) {
  Json counts;
  for (const char* kind :
       {"search", "verification", "replication", "sham", "dwell", "drift", "return"}) {
    counts[kind] =
        std::count_if(story.races.begin(), story.races.end(), [&](const storage::StoredRace& race) {
          return race.record.session == story.session.id &&
                 std::string_view(KindWord(race.record)) == kind;
        });
  }
  return counts;
}

void AddCosts(const planner::CostRecord& cost, Json& job) {
  job["search_pairs"] = cost.search_pairs;
  job["replication_pairs"] = cost.replication_pairs;
  job["builds"] = cost.builds;
  job["probes"] = cost.probes;
  job["races"] = cost.races;
  job["window_s"] = Seconds(cost.window);
  job["regret_s"] = Seconds(cost.regret);
  job["build_s"] = Seconds(cost.build);
  job["probe_s"] = Seconds(cost.probe);
  job["drain_s"] = Seconds(cost.drain);
  // Rows of earlier versions do not know it.
  job["budget"] = cost.budget_allowed > planner::Nanos(0)
                      ? Json({{"spent_s", Seconds(cost.budget_spent)},
                              {"allowed_s", Seconds(cost.budget_allowed)}})
                      : Json();
}

}  // namespace

Json JobReport(const Reader::SessionStory& story, const Beside& beside) {
  if (const auto answered = WithItsEarlierAnswer(story, beside)) {
    return JobReport(*answered, beside);
  }
  const planner::CostRecord cost = CostOf(story, beside.so_far);
  const std::vector<planner::DecisionSpec>& decisions = story.workload.spec.decisions;
  Json job;
  job["role"] = "";
  job["outcome"] = OutcomeWord(story);
  const bool served = IsServed(story, beside.founder);
  AddAnswer(story, beside, served, job);
  job["boundaries"] = std::count_if(decisions.begin(), decisions.end(), [](const auto& decision) {
    return decision.kind == planner::DecisionKind::kBoundary;
  });
  job["decisions"] = decisions.size();
  AddCosts(cost, job);
  job["races_by_kind"] = RacesByKind(story);
  job["pairs_by_use"] = PairsByUse(story, cost, beside.given ? *beside.given : OwnRaces(story));
  job["forecast"] = ForecastJson(story, cost);
  job["session"] = story.session.id;
  job["workload_fingerprint"] = storage::DigestToHex(story.workload.spec.fingerprint);
  job["environment"] = story.environment.fields;
  job["plans"] = Json::array();
  for (const storage::StoredPlan& plan : story.plans) {
    job["plans"].push_back(PlanJson(story, plan.record));
  }
  job["race_list"] = Json::array();
  for (const storage::StoredRace& race : story.races) {
    if (race.record.session == story.session.id) job["race_list"].push_back(RaceJson(story, race));
  }
  return job;
}

std::string JobReportText(Reader& reader, const Reader::SessionStory& story, Beside beside) {
  if (story.settlement.has_value()) {
    // A row that cannot be read costs the job no more than being told that it was served.
    auto found = reader.Session(story.settlement->record.session);
    if (found.ok()) beside.founder = *std::move(found);
  }
  beside.given = GivenPairs(reader, story);
  return JobReport(story, beside)
      .dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace blazed::history
