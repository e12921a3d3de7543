// Scenarios of single races: no search, no host, just pairs under simulated noise.
#include "client/sim/race_scenarios.h"

#include <cmath>

#include "client/sim/noise.h"
#include "daemon/planner/race.h"
#include "daemon/planner/random.h"
#include "daemon/planner/scale.h"

namespace blazed::sim {
namespace {

using namespace planner;  // a race is driven as the planner drives it

constexpr uint64_t kSteps = 2000;

struct Setting {
  const char* name;
  NoiseSettings noise;
};

std::vector<Setting> Settings() {
  std::vector<Setting> all = {{"sigma 1.5 % rho 0.5", {}}, {"sigma 1 % rho 0.3", {}},
                              {"sigma 2 % rho 0.7", {}},   {"period 2 +2 %", {}},
                              {"wild drift, regimes", {}}, {"5 % outliers", {}}};
  all[1].noise.sd = 0.01, all[1].noise.rho = 0.3;
  all[2].noise.sd = 0.02, all[2].noise.rho = 0.7;
  all[3].noise.period_amplitude = 0.02;
  all[4].noise.walk = 0.002, all[4].noise.regime_rate = 1.0 / 200;
  all[5].noise.outlier_share = 0.05;
  return all;
}

// Runs one race to its end; the steps it took.
uint64_t RunRace(Race& race, const NoiseSettings& noise, double gain, uint64_t seed) {
  StepNoise machine(noise, seed);
  Random coin(seed ^ 0xc0fefeULL);
  ScaleRing ring;
  double before = 0;
  for (int i = 0; i < 33; ++i) {
    const double y = machine.Step(0, 0);
    if (i % 2 == 1) ring.Push(y - before);
    before = y;
  }
  uint64_t steps = 0;
  while (!race.ended() && steps < kSteps) {
    PairSample pair;
    pair.challenger_first = coin.Coin();
    if (pair.challenger_first) pair.challenger_ns = 1e7 * std::exp(machine.Step(-gain, 1));
    pair.champion_ns = 1e7 * std::exp(machine.Step(0, 0));
    if (!pair.challenger_first) pair.challenger_ns = 1e7 * std::exp(machine.Step(-gain, 1));
    const double ratio = std::log(pair.champion_ns / pair.challenger_ns);
    const double scale = ring.scale();
    ring.Push(race.counted() < 3 ? ratio : ratio - race.RecentEstimate());
    race.Add(pair, scale);
    steps += 2;
  }
  return steps;
}

RaceTerms Terms(double delta0, double beta) {
  RaceTerms terms;
  terms.delta0 = delta0;
  terms.delta1 = delta0 + 0.005;
  terms.beta = beta;
  terms.max_pairs = kSteps / 2;
  return terms;
}

}  // namespace

// Equal plans, looked at after every pair and never dropped: the rate of false accepts.
std::vector<Row> RunAa(uint64_t runs, uint64_t seed, const Progress& progress) {
  std::vector<Row> rows;
  const auto settings = Settings();
  const double all = static_cast<double>(2 * settings.size() * runs);
  double done = 0;
  for (const Setting& setting : settings) {
    for (double delta0 : {0.0, 0.0025}) {
      uint64_t accepted = 0;
      for (uint64_t i = 0; i < runs; ++i) {
        Race race(1, Terms(delta0, 1e-300), {}, {{0, 1}}, Moment{});
        RunRace(race, setting.noise, 0, seed + i * 7919);
        accepted += race.outcome() == RaceOutcome::kWon ? 1 : 0;
        progress(++done / all);
      }
      const double rate = static_cast<double>(accepted) / static_cast<double>(runs);
      rows.push_back({{"setting", std::string(setting.name)},
                      {"delta0", delta0},
                      {"false_accept_rate", rate},
                      {"se", std::sqrt(rate * (1 - rate) / static_cast<double>(runs))}});
    }
  }
  return rows;
}

// True wins under the deltas of a standard search race, with dropping.
std::vector<Row> RunPower(uint64_t runs, uint64_t seed, const Progress& progress) {
  std::vector<Row> rows;
  const std::vector<double> wins = {0.005, 0.01, 0.02, 0.05};
  const double all = static_cast<double>(wins.size() * runs);
  double done = 0;
  for (double win : wins) {
    std::vector<double> steps;
    for (uint64_t i = 0; i < runs; ++i) {
      Race race(1, Terms(0.0025, 0.1), {}, {{0, 1}}, Moment{});
      const uint64_t took = RunRace(race, {}, win, seed + i * 7919);
      if (race.outcome() == RaceOutcome::kWon) steps.push_back(static_cast<double>(took));
      progress(++done / all);
    }
    const double accepted = static_cast<double>(steps.size()) / static_cast<double>(runs);
    rows.push_back({{"win", win},
                    {"delta0", 0.0025},
                    {"accepted", accepted},
                    {"median_steps", Median(steps)}});
  }
  return rows;
}

}  // namespace blazed::sim
