#include "daemon/planner/prospect.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace blazed::planner {
namespace {

constexpr double kSmallestSd = 1e-8;
// How a step is launched moved recorded models by 29 to 76 % where the host was the bottleneck and
// by nothing where the device was; a quarter leaves room for both.
constexpr double kWholeStepSd = 0.25;
constexpr size_t kLargestGroup = 5;
constexpr double kFewestSites = 0.5, kMostSites = 2;  // bounds of the factor

double Brings(const Surrogate& surrogate, const Toggles& best, const Toggles& plan) {
  const Contrast contrast = surrogate.Between(best, plan);
  const double sd = std::sqrt(surrogate.Variance(contrast));
  return ExpectedImprovement(-surrogate.Predict(contrast), std::max(sd, kSmallestSd));
}

}  // namespace

double ExpectedImprovement(double gain, double sd) {
  const double z = gain / sd;
  return sd * std::exp(-0.5 * z * z) * 0.3989422804014327 +
         gain * 0.5 * std::erfc(-z * 0.7071067811865476);
}

Prospect NextGroup(const Space& space, const Surrogate& surrogate, const Toggles& base,
                   const std::vector<size_t>& untried, const Toggles& cheap, uint32_t builds_left) {
  Prospect group{base, 0};
  const auto is_cheap = [&](size_t i) { return i < cheap.size() && cheap[i]; };
  // What is cheap, then what moves the step most; a change of the whole step comes alone.
  std::vector<size_t> order = untried;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (is_cheap(a) != is_cheap(b)) return is_cheap(a);
    return surrogate.VarianceOf(a) > surrogate.VarianceOf(b);
  });
  const size_t room = untried.size() / std::max(1u, builds_left);
  const size_t wanted = std::clamp<size_t>(room, 1, kLargestGroup);
  std::set<uint32_t> decisions;
  for (size_t i : order) {
    const DecisionSpec& decision = space.spec().decisions[space.toggle(i).decision];
    if (decisions.size() == wanted || is_cheap(i) != is_cheap(order.front())) break;
    if (decision.graph == 0 && !decisions.empty()) continue;
    if (!decisions.insert(space.toggle(i).decision).second) continue;
    space.Set(group.plan, i, true);
    if (decision.graph == 0) break;
  }
  if (!decisions.empty()) group.gain = Brings(surrogate, base, group.plan);
  return group;
}

Prospect BestProspect(const Space& space, const Surrogate& surrogate, const Toggles& best,
                      const std::function<bool(size_t)>& closed,
                      const std::function<bool(const Toggles&)>& taken, uint32_t flips) {
  Prospect found{best, 0};
  std::vector<uint8_t> used(best.size(), 0);
  for (uint32_t n = 0; n < flips; ++n) {
    const Toggles at = found.plan;
    size_t steepest = best.size();
    for (size_t i = 0; i < at.size(); ++i) {
      if (used[i] || (!at[i] && closed(i))) continue;
      Toggles next = at;
      space.Set(next, i, !at[i]);
      if (taken(next)) continue;
      const double gain = Brings(surrogate, best, next);
      if (gain <= found.gain) continue;
      found = {std::move(next), gain};
      steepest = i;
    }
    if (steepest == best.size()) break;
    used[steepest] = 1;
  }
  return found;
}

std::vector<double> PriorWeights(const Space& space, double sd) {
  double sites = 0;
  for (size_t i = 0; i < space.size(); ++i) {
    sites += space.spec().decisions[space.toggle(i).decision].sites;
  }
  std::vector<double> weights;
  for (size_t i = 0; i < space.size(); ++i) {
    const DecisionSpec& decision = space.spec().decisions[space.toggle(i).decision];
    const double share = decision.sites * static_cast<double>(space.size()) / sites;
    double weight = std::clamp(std::sqrt(share), kFewestSites, kMostSites);
    if (decision.graph == 0) weight = std::max(1.0, kWholeStepSd / sd);
    weights.push_back(weight);
  }
  return weights;
}

}  // namespace blazed::planner
