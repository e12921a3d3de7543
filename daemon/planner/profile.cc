#include "daemon/planner/profile.h"

#include <algorithm>
#include <cmath>

namespace blazed::planner {
namespace {

constexpr size_t kSmall = 16;  // toggles; such a space is searched to a finer grain
constexpr size_t kFine = 16;   // toggles; up to here races look for smaller gains
// Toggles; above it plans are many, and their builds and probes take longer than their pairs. More
// of them share one probe of the default, and the last of the gain, which would take some 300,000
// steps to pay for the plans that find it, is left.
constexpr size_t kMany = 60;
constexpr double kCheapSteps =
    8;                       // build and probe together, in steps; half of it where noise is loud
constexpr double kLoud = 3;  // scale over delta1: a plan's pairs are worth more than another plan
constexpr double kDearSteps = 100;  // a build alone, in steps (rule A.3)
constexpr double kBuildSteps = 6;   // of a build, for each pair of a plan: two steps
constexpr double kFewestPairs = 8, kMostPairs = 32;
constexpr uint32_t kListedPairs = 10;  // where no model shares what plans have in common
constexpr uint64_t kTargetPairs = 4000;
constexpr double kTooCoarse = 3;  // times the configured delta1

// A fine search accepts smaller steps on the way; what is settled is still judged by the configured
// gain.
struct Grain {
  double delta0, delta1;
};
Grain GrainOf(size_t toggles, const TuningConfig& config) {
  if (toggles > kFine) return {config.delta0, config.delta1};
  return {0.4 * config.delta0, config.delta1 / 1.5};
}

// The smallest delta1 whose races fit the pairs that this process can give: a race near the cap may
// use a quarter. The third race's share of alpha stands for all.
double Resolvable(const Surroundings& here, const Grain& grain, const TuningConfig& config) {
  double pairs = static_cast<double>(kTargetPairs);
  if (here.step_ns > 0 && here.window_ns > 0) {
    pairs = std::min(pairs, here.window_ns / (2 * here.unit_steps * here.step_ns));
  }
  const double race = std::max(64.0, pairs / 4);
  const double width = here.scale * std::sqrt(4 * std::log(6 / (config.alpha / 12)) / race);
  return std::max(grain.delta1, grain.delta0 + width);
}

// A dear plan is measured for a third of what it cost to build.
uint32_t PairsForABuild(double build_steps) {
  return static_cast<uint32_t>(std::clamp(build_steps / kBuildSteps, kFewestPairs, kMostPairs));
}

void ChargeVariants(const Surroundings& here, const TuningConfig& config, SearchProfile& profile) {
  if (here.step_ns <= 0) return;
  const double build = here.build_ns / here.step_ns;
  // Beside what measuring a plan costs; what is dear stands in the way of training as it is.
  const double cost = (here.build_ns + here.probe_ns) / (here.unit_steps * here.step_ns);
  if (build > kDearSteps) {
    profile.name = "few-builds";
    profile.pairs_per_proposal = PairsForABuild(cost);
    profile.flips = 24;
    profile.batch = 1;
    profile.race_z = 0;
    profile.max_builds = 12;
  } else if (cost > (here.scale > kLoud * config.delta1 ? kCheapSteps / 2 : kCheapSteps)) {
    profile.name = "few-plans";
    profile.pairs_per_proposal = 4;
    profile.flips = 24;
    profile.batch = 4;
  }
}

// Two-way decisions and, of forward rounds, one for each ten options stand for all.
uint32_t ListedPlans(size_t toggles, SearchKind kind) {
  constexpr size_t kMostTwoWay = 12, kRandom = 64;
  size_t plans = kRandom;
  if (kind == SearchKind::kExhaustive) {
    plans = toggles > kMostTwoWay ? 0 : (size_t{1} << toggles) - 1;
  } else if (kind == SearchKind::kGreedy) {
    plans = toggles * (2 + toggles / 10);
  }
  return static_cast<uint32_t>(plans);
}

}  // namespace

SearchProfile ChooseProfile(const Surroundings& here, const TuningConfig& config) {
  SearchProfile profile;
  if (here.toggles <= kFine) profile.name = "fine";
  const double toggles = static_cast<double>(std::max<size_t>(here.toggles, 1));
  const bool small = here.toggles <= kSmall;
  const double sd = 0.025 * std::sqrt(12 / toggles);
  profile.prior = {(small ? 0.3 : 0.5) * sd, sd, (small ? 1.0 : 0.6) * sd};
  const Grain grain = GrainOf(here.toggles, config);
  profile.delta0 = grain.delta0;
  profile.delta1 = Resolvable(here, grain, config);
  // What the noise hides within the budget is not worth waiting for either; but many small gains
  // may add up to one that shows, so a single option is asked for no more than half of what the
  // prior expects options to differ by.
  const double coarser = profile.delta1 / grain.delta1;
  profile.stop_gain = (small ? 0.0006 : 0.001) * coarser;
  if (here.toggles > kMany) {
    profile.stop_gain *= 2;
    profile.batch = 2 * profile.batch;
  }
  profile.stop_delta = grain.delta0 + std::min(profile.delta1 - grain.delta1, sd / 2);
  profile.too_noisy = profile.delta1 > kTooCoarse * config.delta1;
  profile.quiet = small ? 300 : 60;
  profile.patience = (small ? 1000 : 150) + 6 * static_cast<uint32_t>(here.toggles);
  ChargeVariants(here, config, profile);
  profile.most_builds = config.max_builds;
  if (config.max_builds > 0 && profile.max_builds > 0) {
    profile.max_builds = std::min(profile.max_builds, config.max_builds);
  }
  if (config.search != SearchKind::kSurrogate) {
    profile.pairs_per_proposal = std::max(profile.pairs_per_proposal, kListedPairs);
    profile.listed = ListedPlans(here.toggles, config.search);
  }
  return profile;
}

}  // namespace blazed::planner
