// Drift checks: the settled plan against its fallback, in short bursts at widening gaps. Demotion
// only by the detector or the tail guard on pairs, or by a probe that finds its numbers wrong.
#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/planner/interval.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

// Enough for a flip of twice the gain to be seen in one; then smaller, so that a check ends soon
// after its answer is there. Together a full burst.
constexpr uint32_t kFirstBurstLease = 20, kBurstLease = 10;
constexpr uint64_t kKeepEvery = 8;  // the timer's row is renewed after this part of a gap

}  // namespace

void Tuning::State::KeepTimer() {
  timer_kept_at_ = timer_->steps_left;
  if (timer_->settlement != 0) Emit(KeepDriftTimer{*timer_});
}

void Tuning::State::KeepTimerNowAndThen() {
  const uint64_t passed = timer_kept_at_ - timer_->steps_left;
  if (passed >= std::max<uint64_t>(1, timer_->gap_steps / kKeepEvery)) KeepTimer();
}

void Tuning::State::StartCheck(Session& s, bool with_pairs) {
  const Variant* v = s.Find(s.in_use);
  if (v == nullptr) return;
  s.burst.emplace();
  s.burst->plan = v->plan;
  s.burst->with_pairs = with_pairs;
  s.burst->started = now_;
  if (with_pairs) {
    s.burst->alarmed = s.alarmed;
    s.burst->discard = settlement_->carry;
    s.alarmed = false;
    explorer_ = s.ready.session;
    detector_.StartBurst();
  }
  Advance(s);
}

// The probe saw numbers that the plan got wrong and took it out of use already; what is left is to
// say so everywhere.
void Tuning::State::FailedInService(Session& s) {
  const Plan plan = s.burst->plan;
  const auto failed = s.failed.find(plan);
  const Verdict verdict = failed == s.failed.end() ? Verdict::kInconclusive : failed->second;
  s.burst.reset();
  LeaveTurn(s);
  const bool settled = s.role == Role::kSettled && settlement_ && settlement_->plan == plan;
  if (IsWrong(verdict) && settled) {
    return DemoteSettled("a probe failed in service", verdict);
  }
  s.role = Role::kFrozen;
  if (explorer_ == 0 && campaign_.champion == plan) campaign_.champion.clear();
  KeepEnd(s, Outcome::kUndecided, 0, "a probe failed in service");
  SetPhase(s, Phase::kStanding, "a probe failed in service");
  GrantTurns();
}

bool Tuning::State::BurstStep(Session& s) {
  Burst& burst = *s.burst;
  Variant* v = s.Find(s.in_use);
  if (v == nullptr || s.in_use == kDefaultVariant) {
    FailedInService(s);
    return false;
  }
  if (!burst.probed || v->stage == VariantStage::kBuilt) {
    if (!Fits(s, ProbeNs(s, 1))) {
      EndBurst(s, RaceOutcome::kUndecided, BudgetNote(s));
      return false;
    }
    burst.probed = true;
    IssueProbe(s, {v->id}, 1);
    return false;
  }
  if (!burst.with_pairs) {
    s.burst.reset();
    s.probe_timer = AfterOk(s.probe_timer);
    return false;
  }
  if (tails_[burst.plan].Vetoes(SettledRatio(), kTailDemotes)) {
    search_.GiveUp(burst.plan);
    EndBurst(s, RaceOutcome::kWon, tails_[burst.plan].Story());
    return false;
  }
  switch (detector_.state()) {
    case DriftDetector::State::kRunning:
      // A host that flags everything must not be checked for ever; as in a race.
      if (burst.pairs.size() >= 2 * DriftDetector::kBurstPairs) {
        EndBurst(s, RaceOutcome::kUndecided, "most of its pairs were left out");
      } else {
        LeaseBurst(s);
      }
      return false;
    case DriftDetector::State::kDemote:
      EndBurst(s, RaceOutcome::kWon, "the fallback is the faster one by now");
      return false;
    case DriftDetector::State::kOk:
      EndBurst(s, RaceOutcome::kLost, "nothing speaks against the settled plan");
      return false;
    case DriftDetector::State::kInconclusive:
      EndBurst(s, RaceOutcome::kUndecided, "these pairs do not tell which is faster");
      return false;
  }
  return false;
}

void Tuning::State::LeaseBurst(Session& s) {
  const Burst& burst = *s.burst;
  const uint32_t pairs = PairsALease(s.units.Shape(burst.discard),
                                     burst.pairs.empty() ? kFirstBurstLease : kBurstLease);
  if (!Fits(s, LeaseNs(s, pairs, true, burst.discard))) {
    return EndBurst(s, RaceOutcome::kUndecided, BudgetNote(s));
  }
  IssueLease(s, LeasePurpose::kBurst, s.in_use, kDefaultVariant, pairs, burst.discard);
}

// What the settled plan typically saves, as a log ratio.
double Tuning::State::SettledRatio() const {
  return settlement_ ? -std::log1p(-settlement_->gain.estimate) : 0;
}

// The plan in use runs as the champion and the fallback as the challenger, so a positive ratio
// speaks against it.
void Tuning::State::TakeBurst(Session& s, const std::vector<PairSample>& pairs) {
  if (!s.burst) return;
  s.ledger.AddPairs(RaceKind::kDrift, pairs.size());
  for (const PairSample& pair : pairs) {
    s.burst->pairs.push_back(pair);
    if (pair.excluded || pair.aborted) continue;
    ScaleRing& ring = s.ring(s.burst->discard);
    const double scale = ring.scale();
    const double ratio = LogRatio(pair);
    tails_[s.burst->plan].Add(-ratio, scale, SettledRatio());
    if (detector_.state() == DriftDetector::State::kRunning) {
      detector_.Add(-ratio, scale);
      const auto& ratios = s.burst->ratios;
      ring.Push(ratios.size() < 3 ? ratio : ratio - Median(ratios));
      s.burst->ratios.push_back(ratio);
      s.burst->scales.push_back(scale);
    }
  }
}

void Tuning::State::EndBurst(Session& s, RaceOutcome outcome, const std::string& reason) {
  if (!s.burst->with_pairs) {
    s.burst.reset();
    s.probe_timer = AfterInconclusive(s.probe_timer);
    return;
  }
  RaceRecord record;
  record.id = races_earlier_ + ++races_opened_;
  record.kind = RaceKind::kDrift;
  record.session = s.ready.session;
  record.champion = s.burst->plan;
  record.outcome = outcome;
  const std::string left_out = ExcludedText(s.burst->pairs);
  record.reason = left_out.empty() ? reason : reason + "; " + left_out;
  record.pairs = s.burst->pairs;
  const UnitShape unit = s.units.Shape(s.burst->discard);
  record.warm_steps = unit.warm;
  record.timed_steps = unit.timed;
  // Without a counted pair nothing is refuted, so both ends are open, as in a race.
  record.effect = ConfidenceInterval(s.burst->ratios, s.burst->scales, config_.alpha);
  record.started = s.burst->started;
  record.ended = now_;
  const Burst check = *std::exchange(s.burst, std::nullopt);
  LeaveTurn(s);
  Emit(KeepRace{record});
  if (outcome == RaceOutcome::kWon) return DemoteSettled(reason, Verdict::kDemoted, &check);
  const uint64_t factor = s.units.CheckFactor(check.discard);
  if (outcome == RaceOutcome::kLost) {
    timer_ = AfterOk(*timer_, factor);
  } else {
    timer_ =
        check.alarmed ? AfterUnclearAlarm(*timer_, factor) : AfterInconclusive(*timer_, factor);
  }
  KeepTimer();
  GrantTurns();
}

// The demoted plan was the best one while the times held under which the search learned; so it
// would be named again and again. What a check showed of it is learned first.
void Tuning::State::DoubtWhatWasLearned(const Plan& plan, const Burst* check) {
  tails_.erase(plan);  // its slow steps of other times say nothing of a later race
  if (check == nullptr || check->ratios.empty()) return search_.Inflate();
  std::vector<double> ratios;
  for (const double ratio : check->ratios) ratios.push_back(-ratio);
  const double scale = Median(check->scales);
  search_.Doubt(plan, Median(ratios), scale, ratios.size());
}

// Every session goes back to the default and the search opens again, with a measurement of the
// noise; what was learned is a first guess.
void Tuning::State::DemoteSettled(const std::string& reason, Verdict verdict, const Burst* check) {
  if (campaign_.pending) {
    // A settlement that nobody here knows of would come into force behind the demotion.
    campaign_.failed_meanwhile = reason;
    campaign_.failed_plan = settlement_->plan;
    campaign_.failed_verdict = verdict;
    return;
  }
  const SettlementRecord demoted = *settlement_;
  const SessionId went_on_with = campaign_.goes_on ? explorer_ : 0;
  demoted_.reset();
  if (verdict == Verdict::kDemoted) demoted_ = demoted.plan;
  settlement_.reset();
  timer_.reset();
  Judge(demoted.plan, verdict == Verdict::kProposed ? Verdict::kDemoted : verdict, reason);
  Emit(DemoteSettlement{demoted.id, reason});
  campaign_ = Campaign{};
  DoubtWhatWasLearned(demoted.plan, check);
  search_.NoteAccept();
  explorer_ = 0;
  for (auto& [id, s] : sessions_) {
    const bool went_on = s.role == Role::kExploring && went_on_with == id;
    if (s.role != Role::kSettled && s.role != Role::kServing && !went_on) continue;
    s.dwelling.reset();
    EndPause(s);
    if (s.race) {
      // Its pairs were drawn for a plan that is demoted by now: filed, but nothing follows from it.
      s.race->Abandon(reason);
      CloseRace(s);
    }
    s.burst.reset();
    s.serving.reset();
    DropOpenWork(s);
    s.role = Role::kWaiting;
    if (s.in_use != kDefaultVariant) IssueAdopt(s, kDefaultVariant, AdoptReason::kDemoted, false);
    s.ledger = Ledger();
    ForgetNoise(s);
    SetPhase(s, Phase::kWaiting, reason);
  }
  GrantTurns();
}

}  // namespace blazed::planner
