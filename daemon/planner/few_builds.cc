// A search where a build takes longer than many steps: one build at a time, each only where it is
// expected to pay for itself, and at most so many in a process. The next process goes on from what
// was learned.
#include <algorithm>
#include <limits>

#include "daemon/planner/tuning_state.h"

namespace blazed::planner {

// Of those that the profile and the configuration let a session ask for; the rebuild before a
// settlement is one of them, unless the champion needs none. What is served is no exploring.
uint32_t Tuning::State::BuildsLeft(const Session& s) const {
  const uint32_t of_profile = search_.profile().max_builds;
  const uint32_t most = of_profile > 0 ? of_profile : config_.max_builds;
  if (most == 0 || s.role == Role::kServing) return std::numeric_limits<uint32_t>::max();
  const uint32_t spent = s.ledger.builds() + (campaign_.proof ? 0 : 1);
  return spent < most ? most - spent : 0;
}

// Whether what a build is expected to save, over as many steps as the job has run, is more than the
// build, its probes and its pairs cost. A job's length is not known; that it will run as long again
// is the guess that is never wrong by more than twice.
bool Tuning::State::BuildPays(const Session& s, const Plan& plan, double gain) const {
  if (s.step_ns <= 0) return true;
  const Surroundings here = Measure(s);
  const double steps = static_cast<double>((now_ - s.since).count()) / s.step_ns;
  const double pairs = 2.0 * here.unit_steps * search_.profile().pairs_per_proposal;
  const bool built = s.by_plan.contains(plan);
  const double variant = built ? 0 : (BuildNs(s, plan) + here.probe_ns) / s.step_ns;
  return gain * steps > variant + pairs;
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
    if (!campaign_.waits) SetPhase(s, s.phase, "waits until a build pays in a job of this length");
    campaign_.waits = campaign_.reconsider = true;
    return false;
  }
  EndSearch(s, "a further build does not pay in a job of this length");
  return true;
}

}  // namespace blazed::planner
