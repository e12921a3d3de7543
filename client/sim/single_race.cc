#include "client/sim/single_race.h"

#include <cmath>

#include "daemon/planner/random.h"
#include "daemon/planner/scale.h"
#include "daemon/planner/tuning.h"

namespace blazed::sim {

using namespace planner;  // a race is driven as the planner drives it

namespace {

constexpr int kRingPairs = 16;
constexpr double kStepNs = 1e7;  // of log time 0

}  // namespace

double OwnAlpha() { return SplitAlpha(TuningConfig{}.alpha, 1); }

RaceTerms TermsOf(double delta0, double beta, uint64_t max_pairs, double alpha) {
  RaceTerms terms;
  terms.alpha = alpha;
  terms.delta0 = delta0;
  terms.delta1 = delta0 + 0.005;
  terms.beta = beta;
  terms.max_pairs = max_pairs;
  return terms;
}

uint64_t DriveRace(Race& race, double gain, uint64_t max_steps, uint64_t seed,
                   const NextPair& next) {
  Random coin(seed ^ 0xc0fefeULL);
  ScaleRing ring;
  for (int i = 0; i < kRingPairs; ++i) {
    const auto [first, second] = next();
    ring.Push(second - first);
  }
  uint64_t steps = 0;
  while (!race.ended() && steps < max_steps) {
    PairSample pair;
    pair.challenger_first = coin.Coin();
    const auto [first, second] = next();
    pair.challenger_ns = kStepNs * std::exp((pair.challenger_first ? first : second) - gain);
    pair.champion_ns = kStepNs * std::exp(pair.challenger_first ? second : first);
    const double ratio = std::log(pair.champion_ns / pair.challenger_ns);
    const double scale = ring.scale();
    ring.Push(race.counted() < 3 ? ratio : ratio - race.RecentEstimate());
    race.Add(pair, scale);
    steps += 2;
  }
  return steps;
}

}  // namespace blazed::sim
