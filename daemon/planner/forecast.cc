#include "daemon/planner/forecast.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "daemon/planner/counted.h"

namespace blazed::planner {
namespace {

// Fitted to this planner's own simulated searches (tests/unit/planner/forecast_test.cc holds them
// within 2 x).
constexpr double kPlansPerToggle = 2.6;
constexpr double kRacePairs = 40;  // of a race for a 1 % win at a scale of 1.5 %
constexpr double kLongestNs = 9e18;
constexpr double kRegretStepsPerTrial = 0.025;  // of one pair of a proposal

// The part of a search of so much time and so many steps that the job lets happen.
double PartThatFits(const Surroundings& here, double window, double steps) {
  double part = 1;
  if (here.job_ns >= 0 && window > here.job_ns) part = here.job_ns / window;
  if (here.job_steps >= 0 && steps > here.job_steps) part = std::min(part, here.job_steps / steps);
  return part;
}

}  // namespace

ForecastRecord MakeForecast(const Surroundings& here, const SearchProfile& profile,
                            uint64_t pairs) {
  ForecastRecord record;
  const double toggles = static_cast<double>(here.toggles);
  const double noise = std::max(1.0, here.scale / profile.delta1 / 2);
  double plans = 6 + kPlansPerToggle * toggles * std::sqrt(noise);
  if (profile.max_builds > 0) plans = std::min<double>(plans, profile.max_builds);
  if (here.toggles == 0) plans = 0;
  const double races = here.toggles == 0 ? 0 : 2 + toggles / 10;
  const double race_pairs = kRacePairs * noise * noise;
  const double steps =
      here.unit_steps * (2 * (static_cast<double>(pairs) + plans * profile.pairs_per_proposal) +
                         3 * races * race_pairs);
  double window = steps * here.step_ns + plans * (here.build_ns + here.probe_ns);
  window = std::min(window, here.window_ns > 0 ? here.window_ns : kLongestNs);
  const double fits = PartThatFits(here, window, steps);
  const double cost = plans * (here.build_ns + here.probe_ns +
                               kRegretStepsPerTrial * profile.pairs_per_proposal * here.step_ns);
  const bool dear = here.budget_ns >= 0 && fits * cost > here.budget_ns;
  const double part = dear ? here.budget_ns / cost : fits;
  window *= part;
  plans *= part;
  record.window = Nanos(static_cast<int64_t>(window));
  record.builds = static_cast<uint32_t>(plans);
  const double trials = plans * profile.pairs_per_proposal;
  record.regret =
      Nanos(static_cast<int64_t>(kRegretStepsPerTrial * trials * here.unit_steps * here.step_ns));
  record.resolvable = 1 - std::exp(-profile.delta1);
  record.based_on = "this job's first " + Counted(pairs, "pair") + " and a space of " +
                    Counted(here.toggles, "option") +
                    (dear       ? ", cut to its budget"
                     : part < 1 ? ", cut to the job's own limit"
                                : "");
  return record;
}

}  // namespace blazed::planner
