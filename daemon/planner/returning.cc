// A demoted plan may be the faster one again: the neighbour that made it slow may be gone. Neither
// the default's step times nor "nothing is faster" would ever tell, and that answer is served to
// every later process. So where a search behind a demotion ended on the default, the demoted plan
// is looked at again in short bursts against it, at widening gaps, as a settled plan is checked. A
// burst accepts nothing: where it speaks for the plan the search opens again, with the plan as its
// first candidate, which is replicated before anything else.
#include <algorithm>
#include <cmath>

#include "daemon/planner/interval.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr double kAheadAt = 20;  // as a check of a settled plan ends
constexpr uint64_t kMostPairs = DriftDetector::kBurstPairs;
constexpr uint32_t kLeasePairs = 10;

}  // namespace

// Of the plans that an earlier process demoted, the one that is known best.
void Tuning::State::RememberDemoted() {
  const PlanRecord* best = nullptr;
  for (const auto& [plan, record] : plans_) {
    if (record.verdict != Verdict::kDemoted || search_.GivenUp(plan)) continue;
    if (best == nullptr || record.pairs > best->pairs) best = &record;
  }
  if (best != nullptr) demoted_ = best->plan;
}

// The first look at a demoted plan, behind an answer that is the default.
void Tuning::State::WaitForReturn(uint64_t settlement, uint64_t factor) {
  if (!demoted_ || search_.GivenUp(*demoted_)) return;
  timer_ = FirstGap(settlement, factor);
  KeepTimer();
}

bool Tuning::State::MayReturn(const Session& s) const {
  const bool on_default = s.in_use == kDefaultVariant && s.ready.mode == Mode::kTune;
  const bool settled =
      s.role == Role::kSettled && settlement_ && settlement_->kind == SettlementKind::kNoWinner;
  const bool undecided = s.role == Role::kFrozen && s.undecided && !settlement_;
  return on_default && (settled || undecided) && demoted_ && timer_ && !s.trials_ended &&
         !campaign_.pending && !s.failed.contains(*demoted_);
}

void Tuning::State::LookForReturn(Session& s, const ServiceWindow& event, uint64_t steps) {
  if (event.variant != kDefaultVariant || s.returning || !MayReturn(s)) return;
  const bool due = CountSteps(*timer_, steps);
  KeepTimerNowAndThen();
  const bool free = explorer_ == 0 && !DeviceTaken(s) && !s.Busy() && BuildsLeft(s) > 0;
  if (!due || !free || !Fits(s, PlanNs(s) + LeaseNs(s, kMostPairs, true, false))) return;
  s.returning.emplace();
  s.returning->plan = *demoted_;
  s.returning->started = now_;
  explorer_ = s.ready.session;
  Advance(s);
}

bool Tuning::State::ReturnStep(Session& s) {
  Returning& look = *s.returning;
  const auto known = s.by_plan.find(look.plan);
  if (s.failed.contains(look.plan)) {
    EndReturn(s, RaceOutcome::kUndecided, "the demoted plan could not be built and proven here");
  } else if (known == s.by_plan.end()) {
    IssueBuild(s, look.plan, 0);
  } else if (s.Find(known->second)->stage == VariantStage::kBuilt) {
    IssueProbe(s, {known->second}, config_.probe_batches);
  } else if (look.ahead.LogE() >= std::log(kAheadAt)) {
    EndReturn(s, RaceOutcome::kWon, "the demoted plan is the faster one again");
  } else if (look.behind.LogE() >= std::log(kAheadAt)) {
    EndReturn(s, RaceOutcome::kLost, "the demoted plan is still the slower one");
  } else if (look.ahead.count() >= kMostPairs || look.pairs.size() >= 2 * kMostPairs) {
    EndReturn(s, RaceOutcome::kUndecided, "these pairs do not tell which is faster");
  } else {
    const uint32_t pairs = PairsALease(s.units.Shape(false), kLeasePairs);
    IssueLease(s, LeasePurpose::kReturn, kDefaultVariant, known->second, pairs, false);
  }
  return false;
}

void Tuning::State::TakeReturn(Session& s, const std::vector<PairSample>& pairs) {
  if (!s.returning) return;
  Returning& look = *s.returning;
  s.ledger.AddPairs(RaceKind::kDrift, pairs.size());
  for (const PairSample& pair : pairs) {
    look.pairs.push_back(pair);
    if (pair.excluded) continue;
    const double scale = s.plain.scale();
    const double ratio = pair.aborted ? kAbortedRatio : LogRatio(pair);
    look.ahead.Add(ratio, scale);
    look.behind.Add(-ratio, scale);
    if (pair.aborted) continue;
    s.plain.Push(look.ratios.size() < 3 ? ratio : ratio - Median(look.ratios));
    look.ratios.push_back(ratio);
    look.scales.push_back(scale);
  }
}

void Tuning::State::EndReturn(Session& s, RaceOutcome outcome, const std::string& reason) {
  const Returning look = *std::exchange(s.returning, std::nullopt);
  RaceRecord record;
  record.id = races_earlier_ + ++races_opened_;
  record.kind = RaceKind::kDrift;
  record.session = s.ready.session;
  record.challenger = look.plan;
  record.outcome = outcome;
  const std::string left_out = ExcludedText(look.pairs);
  record.reason = left_out.empty() ? reason : reason + "; " + left_out;
  record.pairs = look.pairs;
  record.warm_steps = s.units.Shape(false).warm;
  record.timed_steps = s.units.Shape(false).timed;
  record.effect = ConfidenceInterval(look.ratios, look.scales, config_.alpha);
  record.started = look.started;
  record.ended = now_;
  Emit(KeepRace{record});
  LeaveTurn(s);
  DropUnused(s);
  if (outcome == RaceOutcome::kWon) return Return(look, s.ready.process);
  if (timer_) {
    // No plan is in use that has to be watched, so what pairs do not tell can wait as long.
    timer_ = AfterOk(*timer_, s.units.CheckFactor(false));
    KeepTimer();
  }
  GrantTurns();
}

// The store keeps its answer in force until the search that follows has one.
void Tuning::State::Return(const Returning& look, const std::string& process) {
  search_.Doubt(look.plan, Median(look.ratios), Median(look.scales), look.ratios.size());
  search_.NoteAccept();
  settlement_.reset();
  timer_.reset();
  campaign_ = Campaign{};
  campaign_.candidate = look.plan;
  campaign_.champion_process = process;
  for (auto& [id, s] : sessions_) {
    const bool undecided = s.role == Role::kFrozen && s.undecided;
    if ((s.role != Role::kSettled && !undecided) || s.in_use != kDefaultVariant) continue;
    s.role = Role::kWaiting;
    s.ledger = Ledger();
    ForgetNoise(s);
    SetPhase(s, Phase::kWaiting, "the demoted plan is the faster one again");
  }
  GrantTurns();
}

}  // namespace blazed::planner
