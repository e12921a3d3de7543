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

struct Job {
  SessionId id = 0;
  Racer racer;
  Random coin;
  ScaleRing ring;
};

void RunPair(Race& race, Job& job) {
  PairSample pair;
  pair.challenger_first = job.coin.Coin();
  const auto [first, second] = job.racer.next();
  const double gain = job.racer.gain;
  pair.challenger_ns = kStepNs * std::exp((pair.challenger_first ? first : second) - gain);
  pair.champion_ns = kStepNs * std::exp(pair.challenger_first ? second : first);
  const double ratio = std::log(pair.champion_ns / pair.challenger_ns);
  const double scale = job.ring.scale();
  job.ring.Push(race.counted() < 3 ? ratio : ratio - race.RecentEstimate());
  race.Add(pair, scale, job.id);
}

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

uint64_t DriveRace(Race& race, const std::vector<Racer>& racers, uint64_t max_steps,
                   uint64_t seed) {
  std::vector<Job> jobs;
  for (const Racer& racer : racers) {
    const auto number = static_cast<uint64_t>(jobs.size());
    jobs.push_back({number + 1, racer, Random((seed ^ 0xc0fefeULL) + number * 7919), {}});
    for (int i = 0; i < kRingPairs; ++i) {
      const auto [first, second] = racer.next();
      jobs.back().ring.Push(second - first);
    }
  }
  uint64_t steps = 0;
  while (!race.ended() && steps < max_steps) {
    for (Job& job : jobs) RunPair(race, job);
    steps += 2;
  }
  return steps;
}

uint64_t DriveRace(Race& race, double gain, uint64_t max_steps, uint64_t seed,
                   const NextPair& next) {
  return DriveRace(race, {{next, gain}}, max_steps, seed);
}

}  // namespace blazed::sim
