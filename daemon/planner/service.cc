// What the windows of ordinary service tell: that steps pass, that step times move, that the host
// runs another plan than the one it was given, and, of a session that is only observed, the noise.
#include <algorithm>
#include <cmath>

#include "daemon/planner/counted.h"
#include "daemon/planner/forecast.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr uint64_t kLongestCount = 4096;  // steps that one window may stand for
constexpr size_t kForecastWindows = 8;
constexpr double kLeastScale = 1e-4;

}  // namespace

// Nothing is under way in the session but its service.
bool Tuning::State::AtRest(const Session& s) const {
  return s.role == Role::kSettled || s.role == Role::kFrozen;
}

void Tuning::State::On(const ServiceWindow& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr || event.steps == 0) return;
  NoteStep(*s, event.first_step + event.steps);
  const uint64_t last = s->last_window_step.value_or(event.first_step);
  const uint64_t passed = event.first_step > last ? event.first_step - last : event.steps;
  s->last_window_step = std::max(last, event.first_step);
  if (s->role == Role::kObserving) return ObserveWindow(*s, event);
  if (!AtRest(*s)) return;
  const uint64_t steps = std::min(passed, kLongestCount);
  if (LookAgain(*s)) return;
  if (s->in_use == kDefaultVariant) return LookForReturn(*s, event, steps);
  if (event.variant != s->in_use) return SeeOtherVariant(*s, event);
  const bool settled = RunsSettled(*s) && timer_;
  const bool pairs = settled && s->ready.mode == Mode::kTune;
  const bool drift_due = settled && DriftDue(*s, event, steps);
  const bool probe_due = !pairs && CountSteps(s->probe_timer, steps);
  if (s->burst || s->trials_ended) return;
  const bool free = explorer_ == 0 && !DeviceTaken(*s);
  if (pairs && drift_due && free && PaysCheck(*s)) return StartCheck(*s, true);
  if (probe_due && Fits(*s, ProbeNs(*s, 1))) return StartCheck(*s, false);
  GoOn(*s);
}

bool Tuning::State::DriftDue(Session& s, const ServiceWindow& event, uint64_t steps) {
  bool due = CountSteps(*timer_, steps);
  const double step_ns = event.median_step_ns > 0
                             ? static_cast<double>(event.median_step_ns)
                             : static_cast<double>(event.host_ns) / event.steps;
  const uint64_t least = kFirstGapSteps * s.units.CheckFactor(settlement_->carry);
  // An alarm soon after a check waits: the level that it was raised against is gone by then.
  s.alarmed |= step_ns > 0 && s.watch.Add(std::log(step_ns));
  if (s.alarmed && timer_->gap_steps - timer_->steps_left >= least) {
    timer_->steps_left = 0;
    due = true;
  }
  KeepTimerNowAndThen();
  return due;
}

// The host has the last word and may go back to its default by itself: the plan runs as something
// else than was proven. A window from before the plan was adopted says nothing.
void Tuning::State::SeeOtherVariant(Session& s, const ServiceWindow& event) {
  if (s.burst || s.Busy() || !s.in_use_from || event.first_step < *s.in_use_from) return;
  HostStoodDown(s, Verdict::kInconclusive,
                event.variant == kDefaultVariant
                    ? "the host went back to its default plan by itself"
                    : "the host runs another plan than the one it adopted");
}

// The session is told and kept as what it is: on the default. Only numbers that the plan got wrong
// demote what is settled; where it merely runs as something else in this process, it stays settled
// for the others.
void Tuning::State::HostStoodDown(Session& s, Verdict verdict, const std::string& why) {
  if (!AtRest(s) || s.in_use == kDefaultVariant) return;
  if (s.burst) EndBurst(s, RaceOutcome::kUndecided, why);
  if (!AtRest(s) || s.in_use == kDefaultVariant) return;
  const Variant* v = s.Find(s.in_use);
  const Plan plan = v == nullptr ? Plan{} : v->plan;
  const bool wrong = IsWrong(verdict);
  const bool settled = s.role == Role::kSettled && settlement_ && settlement_->plan == plan;
  if (wrong) FailVariant(s, s.in_use, verdict, why);
  if (wrong && settled) return DemoteSettled(why, verdict);
  if (wrong && explorer_ == 0 && campaign_.champion == plan) campaign_.champion.clear();
  s.role = Role::kFrozen;
  s.in_use = kDefaultVariant;
  Emit(Stand{s.ready.session, StandReason::kDemoted, why});
  KeepEnd(s, Outcome::kUndecided, 0, why);
  SetPhase(s, Phase::kStanding, why);
}

// Nothing is asked of a session that is only observed, so its forecast comes from service. Two
// windows lie hundreds of steps apart and differ by drift as well: their scale is at least that of
// a pair, and the forecast does not promise too much.
void Tuning::State::ObserveWindow(Session& s, const ServiceWindow& event) {
  if (s.forecast || space_.size() == 0 || event.host_ns == 0 || event.variant != kDefaultVariant) {
    return;
  }
  s.window_step_ns.push_back(static_cast<double>(event.host_ns) / event.steps);
  if (s.window_step_ns.size() < kForecastWindows) return;
  s.step_ns = Median(s.window_step_ns);
  std::vector<double> distances;
  for (size_t i = 1; i < s.window_step_ns.size(); ++i) {
    distances.push_back(std::fabs(std::log(s.window_step_ns[i] / s.window_step_ns[i - 1])));
  }
  Surroundings here = Measure(s);
  // What a search would take from its start; this job, and what is left of it, ends none.
  here.job_ns = here.job_steps = here.budget_ns = -1;
  here.window_ns = static_cast<double>(config_.max_window.count());
  const double timed = s.units.Shape(false).timed;
  here.scale = std::max(kLeastScale, 1.4826 * Median(distances) * std::sqrt(event.steps / timed));
  s.forecast = MakeForecast(here, ChooseProfile(here, config_), kForecastPairs, earlier_);
  s.forecast->based_on = "this job's first " + std::to_string(kForecastWindows) +
                         " windows of service, without pairs, and a space of " +
                         Counted(here.toggles, "option");
  Emit(KeepForecast{s.ready.session, *s.forecast});
  Report(s, "observing; nothing is changed");
}

}  // namespace blazed::planner
