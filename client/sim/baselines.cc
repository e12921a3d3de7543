#include "client/sim/baselines.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "daemon/planner/random.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/space.h"

namespace blazed::sim {
namespace {

using namespace planner;  // plans and spaces

constexpr int kRandomPlans = 64, kSamples = 10, kCarefulSamples = 20;
constexpr double kFlips = 2;  // of a random plan, on average
constexpr size_t kFewestHalved = 32, kMostHalved = 128;
constexpr int kFirstSamples = 4;
constexpr double kNoLimit = 1e300, kFewPlans = 64;

Space SpaceOf(const Arena& arena) { return Space(arena.table().spec(), Contract::kRounding); }

Plan RandomPlan(const Space& space, double flips, Random& random) {
  Toggles on(space.size(), 0);
  for (size_t t = 0; t < on.size(); ++t) {
    if (random.Uniform() * static_cast<double>(on.size()) < flips) space.Set(on, t, true);
  }
  return space.Decode(on);
}

// Nothing where the budget is spent.
std::optional<double> MedianTime(Arena& arena, const Plan& plan, int samples) {
  const auto times = arena.Run(plan, samples);
  if (times.empty()) return std::nullopt;
  return Median(times);
}

// The fastest by median of the default and of these.
Plan BestOf(Arena& arena, const std::vector<Plan>& plans, int samples) {
  Plan best;
  double least = MedianTime(arena, {}, samples).value_or(0);
  for (const Plan& plan : plans) {
    const auto time = MedianTime(arena, plan, samples);
    if (!time) break;
    if (*time >= least) continue;
    least = *time;
    best = plan;
  }
  return best;
}

// Both fixed settings, tried by hand: everything off, everything on.
Plan BothFixed(Arena& arena, uint64_t) {
  Plan all;
  for (uint32_t d = 0; d < arena.table().spec().decisions.size(); ++d) all.push_back({d, 1});
  return BestOf(arena, {all}, kCarefulSamples);
}

Plan RandomBest(Arena& arena, uint64_t seed) {
  const Space space = SpaceOf(arena);
  Random random(seed);
  std::set<Plan> plans;
  for (int i = 0; i < kRandomPlans; ++i) plans.insert(RandomPlan(space, kFlips, random));
  plans.erase(Plan{});
  return BestOf(arena, {plans.begin(), plans.end()}, kSamples);
}

// Every plan; each toggle counts up like a digit.
Plan Exhaustive(Arena& arena, uint64_t) {
  const auto& decisions = arena.table().spec().decisions;
  std::vector<Plan> plans;
  std::vector<uint32_t> options(decisions.size(), 0);
  for (bool more = true; more;) {
    size_t d = 0;
    while (d < options.size() && ++options[d] == decisions[d].options.size()) options[d++] = 0;
    more = d < options.size();
    Plan plan;
    for (uint32_t i = 0; i < options.size(); ++i) {
      if (options[i] > 0) plan.push_back({i, options[i]});
    }
    if (more) plans.push_back(plan);
  }
  return BestOf(arena, plans, kCarefulSamples);
}

// Half of the plans stay in each round, with twice the samples in the next.
Plan SuccessiveHalving(Arena& arena, uint64_t seed) {
  const Space space = SpaceOf(arena);
  Random random(seed);
  size_t size = kFewestHalved;
  while (size < space.size() + 2 && size < kMostHalved) size *= 2;
  std::set<Plan> drawn = {Plan{}};
  for (size_t t = 0; t < space.size() && drawn.size() < size; ++t) {
    drawn.insert({{space.toggle(t).decision, space.toggle(t).option}});
  }
  for (int tries = 0; tries < 1000 && drawn.size() < size; ++tries) {
    drawn.insert(RandomPlan(space, kFlips, random));
  }
  std::vector<Plan> pool(drawn.begin(), drawn.end());
  for (int samples = kFirstSamples; pool.size() > 1; samples *= 2) {
    std::vector<std::pair<double, Plan>> ranked;
    for (const Plan& plan : pool) {
      const auto time = MedianTime(arena, plan, samples);
      if (time) ranked.push_back({*time, plan});
    }
    if (ranked.empty()) return Plan{};
    std::sort(ranked.begin(), ranked.end());
    // A round that the budget cut short is the last one.
    const bool cut = ranked.size() < pool.size();
    pool.clear();
    const size_t keep = cut ? 1 : (ranked.size() + 1) / 2;
    for (size_t i = 0; i < keep; ++i) pool.push_back(ranked[i].second);
  }
  return pool.front();
}

double Deviation(const std::vector<double>& times) {
  const double middle = Median(times);
  std::vector<double> sizes;
  for (double t : times) sizes.push_back(std::fabs(t - middle));
  return Median(sizes);
}

// The study's forward rounds: the best single change is kept where it is faster by more than the
// median absolute deviation.
Plan Greedy(Arena& arena, uint64_t) {
  const Space space = SpaceOf(arena);
  Toggles at(space.size(), 0);
  while (true) {
    const auto base = arena.Run(space.Decode(at), kSamples);
    if (base.empty()) return space.Decode(at);
    double least = Median(base), band = 0;
    size_t best = at.size();
    for (size_t t = 0; t < at.size(); ++t) {
      if (at[t]) continue;
      Toggles next = at;
      space.Set(next, t, true);
      const auto times = arena.Run(space.Decode(next), kSamples);
      if (times.empty()) break;
      if (Median(times) >= least) continue;
      least = Median(times);
      band = std::max(Deviation(base), Deviation(times));
      best = t;
    }
    if (best == at.size() || Median(base) - least <= band) return space.Decode(at);
    space.Set(at, best, true);
  }
}

}  // namespace

double PlansOf(const CostTable& table) {
  double plans = 1;
  for (const auto& decision : table.spec().decisions) {
    plans *= static_cast<double>(decision.options.size());
  }
  return plans;
}

const std::vector<Baseline>& Baselines() {
  static const std::vector<Baseline> kAll = {
      {"both fixed", BothFixed, kNoLimit},
      {"random 64, best of", RandomBest, kNoLimit},
      {"successive halving", SuccessiveHalving, kNoLimit},
      {"greedy", Greedy, kNoLimit},
      {"exhaustive", Exhaustive, kFewPlans},
  };
  return kAll;
}

}  // namespace blazed::sim
