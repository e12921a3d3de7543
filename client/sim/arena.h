// One workload with one noise and one budget for every method of a comparison. Trials are training
// steps of a job of 20,000 steps; what a method spends on builds is added to them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "client/sim/cost_table.h"
#include "client/sim/noise.h"

namespace blazed::sim {

struct ArenaSettings {
  double build_steps = 0;  // what a build takes, in steps of the default plan
  double horizon = 20000;  // steps of the job
  double budget = 10000;   // a method's steps and builds, in steps of the default plan
  NoiseSettings noise;
};

// All times in steps of the default plan.
struct Score {
  double wall = 0;           // of the whole job, builds and probes included
  double regret = 0;         // of it, what the best plan from the first step on would have saved
  double got = 0, best = 0;  // saving of the final plan and of the best one; 0 where none is
  double trial_steps = 0, builds = 0;
  bool worse = false;        // the final plan is slower than the default
  bool claims = false;       // that another plan than the default is faster
  bool false_claim = false;  // and it is not
};

// `wall_before`: what trials, builds and probes took; the rest of the horizon runs `final_plan`.
Score ScoreOf(const CostTable& table, const ArenaSettings& settings, double oracle,
              double trial_steps, double wall_before, double builds,
              const planner::Plan& final_plan);

class Arena {
 public:
  Arena(const CostTable* table, ArenaSettings settings, uint64_t seed);

  const CostTable& table() const { return *table_; }
  // Step times under a plan, `count` of them, in steps of the default plan. Empty, and nothing
  // done, where the budget is not enough for them and for the build that a first run needs.
  std::vector<double> Run(const planner::Plan& plan, int count);
  Score Finish(const planner::Plan& final_plan) const;

 private:
  const CostTable* table_;
  ArenaSettings settings_;
  StepNoise noise_;
  double oracle_;
  std::set<planner::Plan> built_;
  double steps_ = 0, wall_ = 0, spent_ = 0;
};

}  // namespace blazed::sim
