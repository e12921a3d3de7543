// One race of the product's, driven by pairs of neighbouring step times of equal plans.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

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

// One job at a race: its machine, and what the challenger saves there, in log time.
struct Racer {
  NextPair next;
  double gain = 0;
};

// All jobs run at a time, a pair each. A fair coin of the job says which step of a pair is the
// challenger's. Runs the race to its end or until each job has run `max_steps`; the steps that each
// has run. Every job's scale is filled with 16 pairs before.
uint64_t DriveRace(planner::Race& race, const std::vector<Racer>& racers, uint64_t max_steps,
                   uint64_t seed);
uint64_t DriveRace(planner::Race& race, double gain, uint64_t max_steps, uint64_t seed,
                   const NextPair& next);

}  // namespace blazed::sim
