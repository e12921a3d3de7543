#include "client/sim/noise.h"

#include <cmath>

namespace blazed::sim {
namespace {

constexpr double kTurn = 6.283185307179586;

}  // namespace

StepNoise::StepNoise(NoiseSettings settings, uint64_t seed) : settings_(settings), random_(seed) {
  ar_ = settings_.sd * random_.Normal();
  phase_ = kTurn * random_.Uniform();
  period_phase_ = static_cast<int64_t>(random_.Below(1 << 20));
}

double StepNoise::Step(double log_cost, uint64_t plan_key) {
  const NoiseSettings& n = settings_;
  ar_ = n.rho * ar_ + n.sd * std::sqrt(1 - n.rho * n.rho) * random_.Normal();
  walk_ += n.walk * random_.Normal();
  if (random_.Uniform() < n.regime_rate) regime_ = n.regime_sd * random_.Normal();
  double log_time = log_cost + ar_ + regime_ + walk_;
  log_time +=
      n.drift_amplitude * std::sin(kTurn * static_cast<double>(step_) / n.drift_period + phase_);
  if (n.period_amplitude != 0 && (step_ + period_phase_) % n.period == 0) {
    log_time += n.period_amplitude;
  }
  if (random_.Uniform() < n.outlier_share) {
    log_time += std::log(n.outlier_low + (n.outlier_high - n.outlier_low) * random_.Uniform());
  }
  since_switch_ = plan_key != last_key_ ? 0 : since_switch_ + 1;
  if (since_switch_ == 0 || n.carry_steps > 0) {
    const double left =
        since_switch_ == 0 ? 1 : std::exp(-static_cast<double>(since_switch_) / n.carry_steps);
    log_time += left * (n.carry + (plan_key == 0 ? n.carry_default : n.carry_other));
  }
  last_key_ = plan_key;
  ++step_;
  return log_time;
}

}  // namespace blazed::sim
