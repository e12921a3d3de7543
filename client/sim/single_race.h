// One race of the product's, driven by pairs of neighbouring step times of equal plans.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "daemon/planner/race.h"

namespace blazed::sim {

// Two neighbouring steps, log times of the default plan.
using NextPair = std::function<std::pair<double, double>()>;

// The error share that the bars are of, as in the literature: a whole workload's.
inline constexpr double kBarAlpha = 0.05;
// What the planner gives its own first search race, which shares that with all later ones.
double OwnAlpha();

planner::RaceTerms TermsOf(double delta0, double beta, uint64_t max_pairs,
                           double alpha = kBarAlpha);

// A fair coin says which step of a pair is the challenger's; it is faster by `gain` in log time.
// Runs the race to its end or for `max_steps`; the steps it took. The scale is filled with 16 pairs
// before.
uint64_t DriveRace(planner::Race& race, double gain, uint64_t max_steps, uint64_t seed,
                   const NextPair& next);

}  // namespace blazed::sim
