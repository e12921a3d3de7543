#include "client/sim/arena.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/space.h"

namespace blazed::sim {

using planner::Plan;

Score ScoreOf(const CostTable& table, const ArenaSettings& settings, double oracle,
              double trial_steps, double wall_before, double builds, const Plan& final_plan) {
  Score score;
  const double cost = table.LogCost(final_plan), best = std::exp(std::min(0.0, oracle));
  score.trial_steps = trial_steps;
  score.builds = builds;
  score.wall = wall_before + std::max(0.0, settings.horizon - trial_steps) * std::exp(cost);
  score.regret = score.wall - std::max(settings.horizon, trial_steps) * best;
  if (oracle < -1e-4) {
    score.got = 1 - std::exp(cost);
    score.best = 1 - best;
  }
  score.worse = cost > 1e-9;
  score.claims = !final_plan.empty();
  score.false_claim = score.claims && cost >= -1e-9;
  return score;
}

Arena::Arena(const CostTable* table, ArenaSettings settings, uint64_t seed)
    : table_(table),
      settings_(settings),
      noise_(settings.noise, seed),
      oracle_(table->OracleLogCost(seed + 9)),
      built_({Plan{}}) {}

std::vector<double> Arena::Run(const Plan& plan, int count) {
  const double build = built_.contains(plan) ? 0 : settings_.build_steps;
  const double expected = count * std::exp(table_->LogCost(plan));
  if (spent_ + build + expected > settings_.budget) return {};
  if (built_.insert(plan).second) wall_ += build;
  wall_ += expected;
  spent_ += build + expected;
  steps_ += count;
  const uint64_t key = plan.empty() ? 0 : planner::HashPlan(plan);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    times.push_back(std::exp(noise_.Step(table_->LogCost(plan), key)));
  }
  return times;
}

Score Arena::Finish(const Plan& final_plan) const {
  return ScoreOf(*table_, settings_, oracle_, steps_, wall_, static_cast<double>(built_.size() - 1),
                 final_plan);
}

}  // namespace blazed::sim
