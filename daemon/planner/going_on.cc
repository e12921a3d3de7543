// Searches that go on in a job that has become older.
//
// A search where builds are dear ends where a further one does not pay in a job of this length, and
// what it has is settled. A longer job pays for more. So each time that a job on a settled plan has
// become twice as old, the search goes on from there: the settled plan is the champion and stays in
// force, for this job and every other one, until a better one is settled in its place. Where no
// build pays yet this costs some pairs of the plan in use with itself, which cost no step.
#include <algorithm>

#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr double kFirstLookSteps = 4096;
constexpr double kOlder = 2;  // what BuildPays guesses is wrong by as much at most

}  // namespace

// What the champion falls back to.
Plan Tuning::State::InForce() const { return campaign_.goes_on ? settlement_->plan : Plan{}; }

bool Tuning::State::GoesOn(const Session& s) const {
  return campaign_.goes_on && s.role == Role::kExploring && explorer_ == s.ready.session;
}

void Tuning::State::WaitToGoOn(Session& s) {
  s.goes_on_at = s.step_ns > 0 ? std::max(kFirstLookSteps, kOlder * StepsSoFar(s)) : 0;
}

// It may run an earlier one, that another job's was settled in place of.
bool Tuning::State::RunsSettled(Session& s) {
  const Variant* v = s.Find(s.in_use);
  return s.role == Role::kSettled && settlement_ && v != nullptr &&
         settlement_->kind != SettlementKind::kNoWinner && v->plan == settlement_->plan;
}

bool Tuning::State::MayGoOn(Session& s) {
  const bool free = explorer_ == 0 && !campaign_.pending && !s.Busy() && !s.burst;
  return RunsSettled(s) && free && s.ready.mode == Mode::kTune && !s.trials_ended &&
         !search_.Lists() && JobShare(s) < 1 && !DeviceTaken(s);
}

void Tuning::State::GoOn(Session& s) {
  if (s.goes_on_at <= 0 || StepsSoFar(s) < s.goes_on_at || !MayGoOn(s)) return;
  WaitToGoOn(s);
  if (ChooseProfile(Measure(s), config_).max_builds == 0) return;
  campaign_ = Campaign{};
  campaign_.goes_on = campaign_.verified = campaign_.has_forecast = true;
  campaign_.champion = settlement_->plan;
  campaign_.champion_process = settled_process_;
  campaign_.discard_mode = settlement_->carry;
  campaign_.forecast = settlement_->forecast;
  campaign_.gain = search_.Predict(Plan{}, settlement_->plan).first;
  explorer_ = s.ready.session;
  s.role = Role::kExploring;
  s.turn = ++turns_;
  s.ledger.Reopen();
  s.paused = Nanos(0);
  ForgetNoise(s);
  SetPhase(s, Phase::kSearch, "settled; looks whether a further build pays by now");
  Advance(s);
}

// A search that ended for noise, or since the job was too starved to answer, may have met one busy
// minute in a job of days.
bool Tuning::State::LookAgain(Session& s) {
  const bool ended = s.role == Role::kFrozen && s.undecided && !settlement_;
  const bool free = explorer_ == 0 && !campaign_.pending && !s.Busy() && !s.returning;
  const bool may = s.ready.mode == Mode::kTune && !s.trials_ended && JobShare(s) < 1;
  if (s.goes_on_at <= 0 || StepsSoFar(s) < s.goes_on_at || !ended || !free || !may) return false;
  s.goes_on_at = 0;
  s.role = Role::kWaiting;
  s.ledger.Reopen();
  s.paused = Nanos(0);
  ForgetNoise(s);
  search_.NoteAccept();  // what it has seen without an end counts from one again
  SetPhase(s, Phase::kWaiting, "looks again whether it is quieter by now");
  GrantTurns();
  return true;
}

// What is settled runs on, as before.
void Tuning::State::BackToService(Session& s, const std::string& why) {
  if (s.race) {
    s.race->Abandon(why);
    CloseRace(s);
  }
  s.dwelling.reset();
  DropOpenWork(s);
  EndPause(s);
  const auto variant = Proven(s, settlement_->plan);
  LeaveTurn(s);
  campaign_ = Campaign{};
  s.role = Role::kSettled;
  s.ledger.Close(now_);
  if (!variant) return LoseSettled(s, "the settled plan cannot run here any more");
  if (s.in_use != *variant) IssueAdopt(s, *variant, AdoptReason::kSettled, true);
  DropUnused(s);
  s.step_ns = static_cast<double>(settlement_->settled_step_ns);
  WaitToGoOn(s);
  SetPhase(s, Phase::kSettled, why);
  GrantTurns();
}

// In this process alone.
void Tuning::State::LoseSettled(Session& s, const std::string& why) {
  LeaveTurn(s);
  campaign_ = Campaign{};
  s.role = Role::kFrozen;
  if (s.in_use != kDefaultVariant) IssueAdopt(s, kDefaultVariant, AdoptReason::kDemoted, false);
  KeepEnd(s, Outcome::kUndecided, 0, why);
  SetPhase(s, Phase::kStanding, why);
  GrantTurns();
}

}  // namespace blazed::planner
