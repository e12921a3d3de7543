// A search where a build takes longer than many steps: one build at a time, each only where it is
// expected to pay for itself, and at most so many in a process. The next process goes on from what
// was learned.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daemon/planner/counted.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr double kMuchLess = 4;

}  // namespace

// Of those that the profile and the configuration let a session ask for; the rebuild before a
// settlement is one of them, unless the champion needs none. What is served is no exploring.
uint32_t Tuning::State::BuildsLeft(const Session& s) const {
  const uint32_t of_profile = search_.profile().max_builds;
  const uint32_t most = of_profile > 0 ? of_profile : config_.max_builds;
  if (most == 0 || s.role == Role::kServing) return std::numeric_limits<uint32_t>::max();
  const uint32_t spent = s.ledger.builds() + (campaign_.proof ? 0 : 1);
  return spent < most ? most - spent : 0;
}

// In steps: the plan's build, its probes and its pairs.
double Tuning::State::TrialSteps(const Session& s, const Plan& plan) const {
  const Surroundings here = Measure(s);
  const double pairs = 2.0 * here.unit_steps * search_.profile().pairs_per_proposal;
  const bool built = s.by_plan.contains(plan);
  const double variant = built ? 0 : (BuildNs(s, plan) + here.probe_ns) / s.step_ns;
  return variant + pairs;
}

double Tuning::State::StepsSoFar(const Session& s) const {
  return static_cast<double>((now_ - s.since).count()) / s.step_ns;
}

// Whether what a build is expected to save, over as many steps as the job has run, is more than it
// costs. A job's length is not known; that it will run as long again is the guess that is never
// wrong by more than twice.
bool Tuning::State::BuildPays(const Session& s, const Plan& plan, double gain) const {
  return s.step_ns <= 0 || gain * StepsSoFar(s) > TrialSteps(s, plan);
}

// By toggle: whether the host guesses its build to take far less than the usual one does.
Toggles Tuning::State::CheapBuilds(const Session& s) const {
  const double usual = BuildNs(s);
  Toggles cheap(space_.size(), 0);
  for (size_t t = 0; t < cheap.size(); ++t) {
    const Plan alone = {{space_.toggle(t).decision, space_.toggle(t).option}};
    const std::optional<uint64_t> guess = GuessedBuildNs(s, alone);
    cheap[t] = guess && kMuchLess * static_cast<double>(*guess) <= usual ? 1 : 0;
  }
  return cheap;
}

// What was measured, as far as this process can run it.
std::vector<Plan> Tuning::State::MeasuredPlans(const Session& s) const {
  std::vector<Plan> measured;
  for (const auto& [plan, record] : plans_) {
    const bool runs = !s.failed.contains(plan) && !search_.GivenUp(plan);
    if (record.pairs > 0 && runs) measured.push_back(plan);
  }
  return measured;
}

// False: no build pays yet, and the job goes on with what it has.
bool Tuning::State::NextBuild(Session& s) {
  const uint32_t left = BuildsLeft(s);
  if (left == 0) {
    EndSearch(s, "this process has spent its builds");
    return true;
  }
  const Conclusion& found = *campaign_.conclusion;
  if (left == 1 && !Proven(s, found.base)) {
    campaign_.batch = {found.base};
    DropThought();
    return true;
  }
  if (found.plans.empty() || s.failed.contains(found.plans[0])) {
    EndSearch(s, "no plan is left that a build is expected to gain from");
    return true;
  }
  if (BuildPays(s, found.plans[0], found.gain)) {
    campaign_.batch = {found.plans[0]};
    DropThought();
    return true;
  }
  if (campaign_.champion.empty()) {
    campaign_.reconsider = true;
    if (!std::exchange(campaign_.waits, true)) SetPhase(s, Phase::kWaiting, {});
    return false;
  }
  EndSearch(s, "a further build does not pay in a job of this length");
  return true;
}

// What it waited with is tried, or is no more.
void Tuning::State::EndWait() {
  if (!std::exchange(campaign_.waits, false)) return;
  Session* s = FindSession(explorer_);
  if (s != nullptr && s->role == Role::kExploring) SetPhase(*s, Phase::kSearch, {});
}

// A job that waits explores nothing. It keeps the search, unless the build that it waits with pays
// in another job already: in one that runs for longer, or builds in less time.
void Tuning::State::PassWait(Session& s) {
  if (!campaign_.waits || !campaign_.conclusion || campaign_.conclusion->plans.empty()) return;
  const Plan plan = campaign_.conclusion->plans[0];
  const double gain = campaign_.conclusion->gain;
  Session* next = nullptr;
  for (auto& [id, other] : sessions_) {
    const bool explores = other.role == Role::kWaiting && other.ready.mode == Mode::kTune;
    if (!explores || other.trials_ended || other.failed.contains(plan)) continue;
    if (other.step_ns <= 0 || BuildsLeft(other) == 0 || BudgetShare(other) >= 1) continue;
    if (!Fits(other, PlanNs(other)) || !BuildPays(other, plan, gain)) continue;
    if (next == nullptr || other.turn < next->turn) next = &other;
  }
  if (next == nullptr) return;
  s.role = Role::kWaiting;
  LeaveTurn(s);
  SetPhase(s, Phase::kWaiting,
           "a build pays in another job already, which goes on with the search");
  StartExploring(*next);
  Advance(*next);
}

// When that is, by what is known at this moment. Nothing where it does not wait.
std::string Tuning::State::WaitNote(const Session& s) const {
  if (!campaign_.waits || explorer_ != s.ready.session) return {};
  std::string note = "waits until a build pays";
  if (!campaign_.conclusion || campaign_.conclusion->plans.empty()) return note;
  const Conclusion& found = *campaign_.conclusion;
  const double in_all = TrialSteps(s, found.plans[0]) / found.gain;
  const double steps = std::max(1.0, std::ceil(in_all - StepsSoFar(s)));
  const double ns = steps * s.step_ns;
  // A log may say any gain.
  const bool comes = found.gain > 0 && ns < static_cast<double>(kLongestJob.count());
  const Nanos left = comes ? Nanos(static_cast<int64_t>(ns)) : kLongestJob;
  const auto end = SearchEnd(s);
  if (!comes || (end && now_ + left >= *end)) return note + "; none will before this search ends";
  return note + ", in about " + Counted(static_cast<uint64_t>(steps), "step") + " (" +
         SecondsText(left) + ")";
}

}  // namespace blazed::planner
