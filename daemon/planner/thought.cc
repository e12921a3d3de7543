#include "daemon/planner/thought.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "daemon/planner/prospect.h"
#include "daemon/planner/sampler.h"

namespace blazed::planner {
namespace {

constexpr double kNoCap = 1e9;
constexpr uint32_t kAllFlips = 1000;
constexpr double kLeastVariance = 1e-16;

// Steepest single flips under `weights`, each toggle once; stops adding where the mean predicts too
// much slowdown.
Toggles Descend(const Search& search, const std::vector<double>& weights, const Toggles& from,
                uint32_t flips, double cap) {
  const Surrogate& surrogate = search.surrogate();
  Toggles at = from;
  std::vector<uint8_t> used(at.size(), 0);
  double predicted = 0;
  for (uint32_t n = 0; n < flips; ++n) {
    size_t best = at.size();
    double best_cost = -1e-9;
    for (size_t i = 0; i < at.size(); ++i) {
      if (used[i] || (!at[i] && search.Banned(i))) continue;
      const double cost = surrogate.FlipCost(weights, at, i);
      if (cost >= best_cost) continue;
      if (n > 0 && predicted + surrogate.FlipCost(surrogate.mean(), at, i) > cap) continue;
      best = i;
      best_cost = cost;
    }
    if (best == at.size()) break;
    predicted += surrogate.FlipCost(surrogate.mean(), at, best);
    used[best] = 1;
    search.space().Set(at, best, !at[best]);
  }
  return at;
}

// What the mean likes best, where its gain looks proven enough for a race.
std::optional<Plan> Contender(const Search& search, const Plan& champion) {
  const Toggles best = Descend(search, search.surrogate().mean(), search.space().Encode(champion),
                               kAllFlips, kNoCap);
  const Plan plan = search.space().Decode(best);
  if (!search.MayRace(champion, plan, search.profile().delta1)) return std::nullopt;
  return plan;
}

double ImprovementLeft(const Search& search, const Toggles& champion) {
  const Surrogate& surrogate = search.surrogate();
  double sum = 0;
  for (size_t i = 0; i < champion.size(); ++i) {
    if (!champion[i] && search.Banned(i)) continue;
    Toggles flipped = champion;
    search.space().Set(flipped, i, !champion[i]);
    const Contrast contrast = surrogate.Between(champion, flipped);
    const double sd = std::sqrt(std::max(surrogate.Variance(contrast), kLeastVariance));
    sum += ExpectedImprovement(-surrogate.Predict(contrast) - search.profile().stop_delta, sd);
  }
  return sum;
}

// Different plans, none equal to the champion and none given up earlier.
void Propose(const Search& search, const Question& question, Conclusion& to) {
  const SearchProfile& profile = search.profile();
  const Toggles from = search.space().Encode(question.champion);
  const Sampler sampler(search.surrogate());
  Random random(question.seed);
  to.quiet = search.quiet();
  while (to.samples < 2 * question.plans && to.plans.size() < question.plans) {
    ++to.samples;
    const Toggles best =
        Descend(search, sampler.Draw(random), from, profile.flips, profile.slowdown_cap);
    Plan plan = search.space().Decode(best);
    if (plan == question.champion) {
      ++to.quiet;
      continue;
    }
    to.quiet = 0;
    const bool named = std::find(to.plans.begin(), to.plans.end(), plan) != to.plans.end();
    if (!named && !search.GivenUp(plan)) to.plans.push_back(std::move(plan));
  }
}

Plan BestMeasured(const Search& search, const Question& question) {
  const Surrogate& surrogate = search.surrogate();
  const Toggles champion = search.space().Encode(question.champion);
  Plan best = question.champion;
  double most = 0;
  for (const Plan& plan : question.measured) {
    const Toggles on = search.space().Encode(plan);
    const double gain = -surrogate.Predict(surrogate.Between(champion, on));
    if (gain <= most) continue;
    most = gain;
    best = plan;
  }
  return best;
}

// Once no build is left, less gain will do for a race.
double LeastGain(const Search& search, const Question& question) {
  const SearchProfile& profile = search.profile();
  return question.builds_left > 0 ? profile.delta1 : (profile.delta0 + profile.delta1) / 2;
}

// First every change has its turn, several in a build; then what is expected to bring most.
void NameBuild(const Search& search, const Question& question, Conclusion& to) {
  const Space& space = search.space();
  const Surrogate& surrogate = search.surrogate();
  const Toggles from = space.Encode(to.base);
  std::vector<size_t> untried;
  for (size_t i = 0; i < space.size(); ++i) {
    if (!search.Tried(i) && !search.Banned(i)) untried.push_back(i);
  }
  Prospect found = NextGroup(space, surrogate, from, untried, question.cheap, question.builds_left);
  if (untried.empty()) {
    const auto closed = [&search](size_t i) { return search.Banned(i); };
    const auto taken = [&](const Toggles& on) { return search.GivenUp(space.Decode(on)); };
    found = BestProspect(space, surrogate, from, closed, taken, search.profile().flips);
  }
  if (found.gain <= 0) return;
  to.plans = {space.Decode(found.plan)};
  to.gain = found.gain;
}

}  // namespace

Conclusion Conclude(const Search& search, const Question& question) {
  Conclusion conclusion;
  const bool dear = search.ChoosesBuilds();
  if (dear) {
    // A race asks for no build of its own. Whether its plan stands ready is for the tuning to say.
    conclusion.base = BestMeasured(search, question);
    if (search.MayRace(question.champion, conclusion.base, LeastGain(search, question))) {
      conclusion.contender = conclusion.base;
    }
  } else if ((conclusion.contender = Contender(search, question.champion))) {
    return conclusion;
  }
  conclusion.left = ImprovementLeft(search, search.space().Encode(question.champion));
  if (question.plans == 0 || search.Exhausted(question.champion, conclusion.left)) {
    return conclusion;
  }
  dear ? NameBuild(search, question, conclusion) : Propose(search, question, conclusion);
  return conclusion;
}

}  // namespace blazed::planner
