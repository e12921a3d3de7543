// What is settled, for everybody else. Without pairs only where both signatures are those of the
// settlement and its win is more than one process's own; the probes of this process are never left
// out.
#include "daemon/planner/process_effects.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {

uint64_t Tuning::State::PlansMeasured() const {
  uint64_t count = 0;
  for (const auto& [plan, record] : plans_) count += WasMeasured(record) ? 1 : 0;
  return count;
}

// Also behind a restart of the daemon, which a session keeps its id over.
bool Tuning::State::WonHere(const Session& s) const {
  const bool same = !settled_process_.empty() && s.ready.process == settled_process_;
  return same || s.ready.session == settlement_->session;
}

// The process that won the settlement has seen its own effects; every other one has not.
bool Tuning::State::AwaitsPairs(const Session& s) const {
  return !WonHere(s) && AwaitsReplication(*settlement_, PlansMeasured());
}

void Tuning::State::StartServing(Session& s) {
  ForgetHelp(s);
  if (settlement_->kind == SettlementKind::kNoWinner || settlement_->plan.empty()) {
    s.role = Role::kSettled;
    IssueAdopt(s, kDefaultVariant, AdoptReason::kSettled, true);
    KeepEnd(s, Outcome::kNoWinner, settlement_->id, "an earlier search found no winner");
    SetPhase(s, Phase::kServed, "an earlier search found no winner");
    return;
  }
  s.role = Role::kServing;
  s.serving = Serving{settlement_->plan, *settlement_, false, false};
  SetPhase(s, Phase::kServed, "building and probing the settled plan");
  Advance(s);
}

bool Tuning::State::ServeStep(Session& s) {
  if (!s.serving || campaign_.pending) return false;
  if (s.pause && !s.pause->until && !s.Busy()) {
    ServeMissed(s, BudgetNote(s));
    return false;
  }
  if (s.race) return RaceStep(s);
  const Plan plan = s.serving->plan;
  if (!Prepare(s, {plan})) return false;
  const auto variant = Proven(s, plan);
  if (!variant) {
    ServeUnproven(s);
    return false;
  }
  const bool match = Matches(s, *variant);
  if (match && !AwaitsPairs(s)) {
    ServeMatch(s, AdoptReason::kStoredMatch);
    return false;
  }
  return ServeByPairs(s, match ? "the settled win has yet to be replicated outside of its process"
                               : "the settled plan runs as something else here");
}

void Tuning::State::ServeUnproven(Session& s) {
  const auto failed = s.failed.find(s.serving->plan);
  const Verdict verdict = failed == s.failed.end() ? Verdict::kInconclusive : failed->second;
  if (IsWrong(verdict)) {
    DemoteSettled("it failed its probes in another process", verdict);
  } else {
    ServeMissed(s, "the settled plan could not be built and proven here");
  }
}

// Whether it runs here as what was settled; looked at once.
bool Tuning::State::Matches(Session& s, VariantId variant) {
  Serving& serving = *s.serving;
  if (!serving.compared) {
    serving.compared = true;
    serving.match = s.Find(variant)->signature == serving.settlement.champion_signature &&
                    s.ready.default_signature == serving.settlement.default_signature;
  }
  return serving.match;
}

// Pairs need the turn; GrantTurns comes back here once it is free.
bool Tuning::State::ServeByPairs(Session& s, const std::string& why) {
  if (s.ready.mode == Mode::kPinned) {
    ServeMissed(s, why + ", and trials are off");
    return false;
  }
  if (explorer_ != 0 && explorer_ != s.ready.session) return false;
  if (DeviceTaken(s)) return false;
  explorer_ = s.ready.session;
  if (s.phase != Phase::kReplicate) SetPhase(s, Phase::kReplicate, why);
  if (s.noise_pairs < kRingPairs) {
    if (AffordsNoise(s)) IssueNoise(s);
    return false;
  }
  const Plan plan = s.serving->plan;
  OpenRace(s,
           SettlingTerms(config_, SessionSpread(effects_[plan]), config_.delta1, s.discard.scale(),
                         ++checks_),
           Plan{}, plan);
  return true;
}

void Tuning::State::ServeMatch(Session& s, AdoptReason reason) {
  const auto variant = Proven(s, s.serving->plan);
  s.serving.reset();
  s.role = Role::kSettled;
  if (timer_ && !WonHere(s)) {
    timer_ = ForNewProcess(*timer_, s.units.CheckFactor(settlement_->carry));
    KeepTimer();
  }
  IssueAdopt(s, variant.value_or(kDefaultVariant), reason, true);
  KeepEnd(s, Outcome::kServed, settlement_->id, "both signatures are those of the settlement");
  SetPhase(s, Phase::kServed, {});
  WaitToGoOn(s);
}

void Tuning::State::ServeReplicated(Session& s, const Race& race) {
  NoteEffects(race);
  if (race.outcome() == RaceOutcome::kWon) {
    return SettleWon(s, race, SettlementKind::kReplicated);
  }
  if (race.outcome() == RaceOutcome::kUndecided) {
    return ServeMissed(s, "the settled win could not be told from the noise here");
  }
  const bool match = s.serving && s.serving->match;
  if (race.vetoed()) search_.GiveUp(race.challenger());
  DemoteSettled((match ? "not there in another process: "
                       : "not there in another process whose signatures differ: ") +
                    race.reason(),
                Verdict::kDemoted);
}

// The settlement stays for processes that run like the one it was won in; this one keeps its
// default.
void Tuning::State::ServeMissed(Session& s, const std::string& why) {
  if (s.race) {
    s.race->Abandon(why);
    CloseRace(s);
  }
  EndPause(s);
  s.serving.reset();
  s.role = Role::kFrozen;
  LeaveTurn(s);
  IssueAdopt(s, kDefaultVariant, AdoptReason::kSettled, true);
  KeepEnd(s, Outcome::kUndecided, 0, why);
  SetPhase(s, Phase::kServed, why);
  GrantTurns();
}

}  // namespace blazed::planner
