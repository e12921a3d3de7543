#include "daemon/planner/forecast.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "daemon/planner/counted.h"

namespace blazed::planner {
namespace {

// Powers of the size of the space and of the noise, fitted to this planner's own simulated searches
// of 5 to 142 options at scales of 0.5 to 3 % (tests/unit/planner/forecast_test.cc holds them
// within 2 x).
constexpr double kUsualScale = 0.015;
constexpr double kPlans = 1.75, kPlansBySize = 1.15, kPlansByScale = 0.35;
constexpr double kSteps = 168, kStepsBySize = 0.62, kStepsByScale = 0.55;
constexpr double kSettlingSteps = 400;  // races, verification and replication where plans are few
constexpr double kFewerPlans = 0.85;    // where each gets more pairs
constexpr double kLongestNs = 9e18;
constexpr double kRegretPlansPerToggle = 2.6;
// Searches of this size tell of one another; the fit counts as two of them.
constexpr double kLikeSize = 1.5, kWeightOfFit = 2;

// What a search takes besides the cost of its builds and probes.
struct Effort {
  double plans = 0, steps = 0;
};

Effort FittedEffort(const Surroundings& here, const SearchProfile& profile) {
  const double toggles = static_cast<double>(here.toggles);
  const double scale = here.scale / kUsualScale;
  const double settling = kSettlingSteps * std::pow(scale, kStepsByScale);
  const double of_a_plan = 2.0 * profile.pairs_per_proposal;
  if (profile.listed > 0 || profile.max_builds > 0) {
    double plans = profile.max_builds;
    if (profile.listed > 0) plans = profile.listed;
    if (profile.max_builds > 0) plans = std::min<double>(plans, profile.max_builds);
    return {plans, plans * of_a_plan + settling};
  }
  Effort effort;
  effort.plans = kPlans * std::pow(toggles, kPlansBySize) * std::pow(scale, kPlansByScale);
  if (profile.name == "few-plans") effort.plans *= kFewerPlans;
  effort.plans = std::min(effort.plans, std::exp2(toggles) - 1);
  if (profile.most_builds > 0) effort.plans = std::min<double>(effort.plans, profile.most_builds);
  effort.steps = kSteps * std::pow(toggles, kStepsBySize) * std::pow(scale, kStepsByScale);
  return effort;
}

// Searches of like size in this environment, brought to the size of this one.
uint64_t FollowEarlier(const Surroundings& here, const SearchProfile& profile,
                       const std::vector<EarlierSearch>& earlier, Effort& effort) {
  double plans = kWeightOfFit * std::log(effort.plans);
  double steps = kWeightOfFit * std::log(effort.steps);
  uint64_t like = 0;
  for (const EarlierSearch& search : earlier) {
    if (search.options == 0 || search.builds == 0 || search.steps <= 0) continue;
    const double size = static_cast<double>(here.toggles) / static_cast<double>(search.options);
    if (size > kLikeSize || size < 1 / kLikeSize) continue;
    ++like;
    plans += std::log(static_cast<double>(search.builds) * std::pow(size, kPlansBySize));
    steps += std::log(search.steps * std::pow(size, kStepsBySize));
  }
  const double weight = kWeightOfFit + static_cast<double>(like);
  effort = {std::exp(plans / weight), std::exp(steps / weight)};
  if (profile.max_builds > 0) effort.plans = std::min<double>(effort.plans, profile.max_builds);
  return like;
}

// The part of a search of so much time and so many steps that the job lets happen.
double PartThatFits(const Surroundings& here, double window, double steps) {
  double part = 1;
  if (here.job_ns >= 0 && window > here.job_ns) part = here.job_ns / window;
  if (here.job_steps >= 0 && steps > here.job_steps) part = std::min(part, here.job_steps / steps);
  return part;
}

double RegretSteps(const Surroundings& here, const SearchProfile& profile, double plans) {
  const double noise = std::max(1.0, here.scale / profile.delta1 / 2);
  const double trials =
      6 + kRegretPlansPerToggle * static_cast<double>(here.toggles) * std::sqrt(noise);
  return kRegretStepsOfAPair * std::min(trials, plans) * profile.pairs_per_proposal;
}

}  // namespace

ForecastRecord MakeForecast(const Surroundings& here, const SearchProfile& profile, uint64_t pairs,
                            const std::vector<EarlierSearch>& earlier) {
  ForecastRecord record;
  record.resolvable = 1 - std::exp(-profile.delta1);
  Effort effort;
  uint64_t like = 0;
  if (here.toggles > 0) {
    effort = FittedEffort(here, profile);
    like = FollowEarlier(here, profile, earlier, effort);
  }
  const double steps = here.unit_steps * effort.steps;
  double window = steps * here.step_ns + effort.plans * (here.build_ns + here.probe_ns);
  window = std::min(window, here.window_ns > 0 ? here.window_ns : kLongestNs);
  const double regret = here.unit_steps * RegretSteps(here, profile, effort.plans) * here.step_ns;
  const double fits = PartThatFits(here, window, steps);
  const double cost = effort.plans * (here.build_ns + here.probe_ns) + regret;
  const bool dear = here.budget_ns >= 0 && fits * cost > here.budget_ns;
  const double part = dear ? here.budget_ns / cost : fits;
  record.window = Nanos(static_cast<int64_t>(part * window));
  record.builds = static_cast<uint32_t>(part * effort.plans);
  record.regret = Nanos(static_cast<int64_t>(part * regret));
  record.based_on = like > 0
                        ? Counted(pairs, "pair") + ", " + Counted(like, "like workload") + " and "
                        : "this job's first " + Counted(pairs, "pair") + " and a space of ";
  record.based_on += Counted(here.toggles, "option") + " (" + std::string(profile.name) + ")";
  if (dear) {
    record.based_on += ", cut to its budget";
  } else if (part < 1) {
    record.based_on += ", cut to the job's own limit";
  }
  return record;
}

}  // namespace blazed::planner
