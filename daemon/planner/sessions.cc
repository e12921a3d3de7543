// Who is here and whose turn it is.
#include <algorithm>

#include "daemon/planner/scale.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr int kStepsPerEvent =
    64;  // work without waiting that one event may trigger; the next tick goes on
constexpr Nanos kBuildPatience = std::chrono::minutes(10);
constexpr Nanos kProbePatience = std::chrono::minutes(5);

}  // namespace

void Tuning::State::On(const SessionReady& event) {
  const auto [it, fresh] = sessions_.try_emplace(event.session, event, now_);
  if (!fresh) return;
  ++devices_[event.device];
  Session& s = it->second;
  s.step_ns = static_cast<double>(std::min(event.default_step_ns, kLongestUnitNs));
  if (event.mode == Mode::kObserve) {
    s.role = Role::kObserving;
    SetPhase(s, Phase::kWaiting, "observing; nothing is changed");
    return;
  }
  s.budget = Budget(config_, now_);
  const char* unsettled = event.mode == Mode::kPinned ? "pinned, and nothing is settled yet"
                                                      : "waiting for a turn to explore";
  SetPhase(s, Phase::kWaiting, settlement_ ? "a settlement is in force" : unsettled);
  GrantTurns();
}

void Tuning::State::On(const SessionGone& event) {
  const auto it = sessions_.find(event.session);
  if (it == sessions_.end()) return;
  Session& s = it->second;
  if (Race* race = OpenRaceOf(s)) race->Leave(event.session);
  const bool handed_over = HandOver(s);
  if (s.race) {
    s.race->Abandon("the session ended");
    Emit(KeepRace{s.race->Record(s.ready.session, now_)});
    s.race.reset();
  }
  const bool went_on = GoesOn(s);  // its end was kept where it settled
  if (s.role == Role::kExploring && !went_on) {
    KeepEnd(s, Outcome::kUndecided, 0,
            handed_over ? "the session ended; another job goes on with its search"
                        : "the session ended before the search did");
  } else if (s.role == Role::kWaiting && s.ledger.Record(now_).search_pairs > 0) {
    KeepEnd(s, Outcome::kUndecided, 0, "the session ended while it helped another job's search");
  }
  const bool had_turn = explorer_ == event.session;
  if (--devices_[s.ready.device] == 0) devices_.erase(s.ready.device);
  sessions_.erase(it);
  if (had_turn) {
    explorer_ = 0;
    DropThought();
  }
  if (went_on) campaign_ = Campaign{};
  GrantTurns();
}

// Settled work is served to every waiting session; without it one of them explores.
void Tuning::State::GrantTurns() {
  if (campaign_.pending) return;
  bool elsewhere = false;
  for (auto& [id, s] : sessions_) {
    if (!settlement_ || s.role != Role::kWaiting) continue;
    if (Holds(s)) {
      StartServing(s);
    } else {
      elsewhere = true;
    }
  }
  if (settlement_ && elsewhere) SetAside();
  if (settlement_) {
    for (auto& [id, s] : sessions_) {
      if (explorer_ == 0 && s.role == Role::kServing) Advance(s);
    }
    return;
  }
  while (explorer_ == 0) {
    Session* next = NextToExplore();
    if (next == nullptr) return;
    StartExploring(*next);
    Advance(*next);
  }
}

// That nothing is faster than one default says nothing about another.
bool Tuning::State::Holds(const Session& s) const {
  return settlement_->kind != SettlementKind::kNoWinner || s.ready.mode != Mode::kTune ||
         s.ready.default_signature == settlement_->default_signature;
}

// The store keeps it in force until the search that follows has an answer.
void Tuning::State::SetAside() {
  settlement_.reset();
  timer_.reset();
  campaign_ = Campaign{};
  campaign_.afresh = true;
  search_.Reset();
}

// Of what plans do in different processes, as far as it was seen.
double Tuning::State::LargestSpread() const {
  double spread = SessionSpread({});
  for (const auto& [plan, effects] : effects_) spread = std::max(spread, SessionSpread(effects));
  return spread;
}

// What the last explorer had under way belonged to its process: variants, race, rebuild. The search
// goes on.
void Tuning::State::StartExploring(Session& s) {
  explorer_ = s.ready.session;
  EndPause(s);
  s.role = Role::kExploring;
  s.undecided = false;
  ForgetHelp(s);
  s.turn = ++turns_;
  if (s.in_use != kDefaultVariant) {
    // It passed its turn on with a plan that is a candidate like any other by now.
    IssueAdopt(s, kDefaultVariant, AdoptReason::kDemoted, false);
    if (!s.noise_step_ns.empty()) s.step_ns = Median(s.noise_step_ns);
  }
  const bool other_process = !last_process_.empty() && last_process_ != s.ready.process;
  const bool other_default = table_.SetDefault(s.ready.default_signature);
  if (other_default) {
    search_.Inflate();
  } else if (other_process) {
    search_.NextProcess(LargestSpread());
  }
  if (other_default) campaign_.measured = false;
  if (other_process) ForgiveFaults();
  last_process_ = s.ready.process;
  RecordOf(Plan{}).signature = s.ready.default_signature;
  ClearBatch();
  campaign_.contender.reset();
  campaign_.sham.reset();
  campaign_.scouts.clear();
  campaign_.proof.reset();
  if (!campaign_.champion.empty()) {
    campaign_.candidate = campaign_.champion;
    campaign_.candidate_unfinished = true;
    campaign_.champion.clear();
  }
  SetStage(s, Stage::kNoise);
}

void Tuning::State::LeaveTurn(Session& s) {
  if (explorer_ != s.ready.session) return;
  explorer_ = 0;
  DropThought();
}

void Tuning::State::Advance(Session& s) {
  for (int i = 0; i < kStepsPerEvent && !s.Busy(); ++i) {
    if (!Step(s)) return;
  }
}

// One move of the session's flow. False: it waits for an event or has nothing to do.
bool Tuning::State::Step(Session& s) {
  switch (s.role) {
    case Role::kWaiting:
      return HelpStep(s);
    case Role::kExploring:
      return !DeviceTaken(s) && ExploreStep(s);
    case Role::kServing:
      return ServeStep(s);
    case Role::kSettled:
    case Role::kFrozen:
      return s.burst ? BurstStep(s) : s.returning && ReturnStep(s);
    default:
      return false;
  }
}

// Builds and probes have no deadline of their own; a host that never answers must not hold the turn
// for ever. One that was not asked has nothing to answer: others ahead of it in line may take
// longer than any build.
void Tuning::State::DropStale(Session& s) {
  std::vector<VariantId> lost;
  for (auto it = s.open.begin(); it != s.open.end();) {
    const Outstanding& d = it->second;
    const Nanos since = d.held ? Nanos(0) : now_ - d.issued;
    const bool build = d.kind == DirectiveKind::kBuild && since > kBuildPatience;
    const bool probe = d.kind == DirectiveKind::kProbe && since > kProbePatience;
    if (build || probe) ChargeUnanswered(s, d);
    if (build) lost.push_back(d.variant);
    if (probe) lost.insert(lost.end(), d.waiting.begin(), d.waiting.end());
    it = build || probe ? s.open.erase(it) : std::next(it);
  }
  for (VariantId id : lost) {
    FailVariant(s, id, Verdict::kInconclusive, "the host did not answer");
  }
}

void Tuning::State::On(const Tick&) {
  DropLatePartners();
  std::vector<SessionId> ids;
  for (const auto& [id, s] : sessions_) ids.push_back(id);
  for (SessionId id : ids) {
    Session* s = FindSession(id);
    if (s == nullptr) continue;
    DropStale(*s);
    AskAgainIfLate(*s);
    if (s->role == Role::kExploring && BudgetEnds(*s)) continue;
    Advance(*s);
    PassTurn(*s);
    if (s->role == Role::kExploring || s->role == Role::kServing) Report(*s, {});
    if (s->helping) Report(*s, s->helping->note);
  }
  GrantTurns();
}

}  // namespace blazed::planner
