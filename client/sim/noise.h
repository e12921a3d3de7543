// Simulated step times: AR(1) noise, slow drift, regimes, a period, outliers and carry-over after a
// switch. Log step time = log cost of the plan + all of these. One seed, one sequence.
#pragma once

#include <cstdint>

#include "daemon/planner/random.h"

namespace blazed::sim {

struct NoiseSettings {
  double sd = 0.015, rho = 0.5;                                     // AR(1)
  double drift_amplitude = 0.01, drift_period = 4000;               // of a slow sine, in steps
  double walk = 0.0002;                                             // random walk, each step
  double outlier_share = 0.01, outlier_low = 2, outlier_high = 10;  // factors
  double regime_rate = 1.0 / 1500, regime_sd = 0.05;
  double period_amplitude = 0;
  int period = 2;
  double carry = 0;          // on the first step after any switch
  double carry_default = 0;  // the same, only when switching to the default plan
  double carry_other = 0;    // the same, only when switching to another one
  double carry_steps = 0;    // it fades with this constant; 0: gone after the first step
};

class StepNoise {
 public:
  StepNoise(NoiseSettings settings, uint64_t seed);

  // Seconds-free log time of one step of the plan named by `plan_key`; key 0 is the default plan.
  double Step(double log_cost, uint64_t plan_key);

 private:
  NoiseSettings settings_;
  planner::Random random_;
  double ar_ = 0, regime_ = 0, walk_ = 0, phase_ = 0;
  int64_t step_ = 0, period_phase_ = 0, since_switch_ = 0;
  uint64_t last_key_ = ~uint64_t{0};
};

}  // namespace blazed::sim
