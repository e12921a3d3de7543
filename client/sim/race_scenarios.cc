// Scenarios of single races: no search, no host, just pairs under simulated noise.
#include <cmath>

#include "client/sim/noise.h"
#include "client/sim/scenario_list.h"
#include "client/sim/single_race.h"
#include "client/sim/workers.h"

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

// Runs one race to its end under simulated noise; the steps it took.
uint64_t RunRace(Race& race, const NoiseSettings& noise, double gain, uint64_t seed) {
  StepNoise machine(noise, seed);
  const auto step = [&] { return machine.Step(0, 0); };
  return DriveRace(race, gain, kSteps, seed, [&] {
    const double first = step();
    return std::pair(first, step());
  });
}

bool Accepts(double alpha, double delta0, const NoiseSettings& noise, uint64_t seed) {
  Race race(1, TermsOf(delta0, 1e-300, kSteps / 2, alpha), {}, {{0, 1}}, Moment{});
  RunRace(race, noise, 0, seed);
  return race.outcome() == RaceOutcome::kWon;
}

struct Accepted {
  uint8_t bar = 0, own = 0;  // at the error share of the bar and at the planner's own
};

// What the smaller share accepts the larger one accepted before, on the same pairs.
Accepted AcceptedAt(double delta0, const NoiseSettings& noise, uint64_t seed) {
  if (!Accepts(kBarAlpha, delta0, noise, seed)) return {};
  return {1, Accepts(OwnAlpha(), delta0, noise, seed)};
}

// Equal plans, looked at after every pair and never dropped: the rate of false accepts.
std::vector<Row> RunAa(const Request& request) {
  std::vector<Row> rows;
  const auto settings = Settings();
  Workers workers(request, 2 * settings.size() * request.runs);
  for (const Setting& setting : settings) {
    for (double delta0 : {0.0, 0.0025}) {
      const auto runs = workers.Each<Accepted>(request.runs, [&](uint64_t i) {
        return AcceptedAt(delta0, setting.noise, request.seed + i * 7919);
      });
      uint64_t accepted = 0, own = 0;
      for (const Accepted& run : runs) {
        accepted += run.bar;
        own += run.own;
      }
      const Estimate rate = RateOf(accepted, request.runs);
      Row row = {{"setting", std::string(setting.name)}, {"delta0", delta0}};
      Put(row, "false_accept_rate", rate);
      const double n = static_cast<double>(request.runs);
      row.push_back({"se", std::sqrt(rate.value * (1 - rate.value) / n)});
      Put(row, "false_accept_rate_own", RateOf(own, request.runs));
      rows.push_back(row);
    }
  }
  return rows;
}

// True wins under the deltas of a standard search race, with dropping.
std::vector<Row> RunPower(const Request& request) {
  std::vector<Row> rows;
  const std::vector<double> wins = {0.005, 0.01, 0.02, 0.05};
  Workers workers(request, 2 * wins.size() * request.runs);
  for (double win : wins) {
    Row row = {{"win", win}, {"delta0", 0.0025}};
    const auto put = [&](double alpha, const std::string& ending) {
      auto steps = workers.Each<double>(request.runs, [&](uint64_t i) {
        Race race(1, TermsOf(0.0025, 0.1, kSteps / 2, alpha), {}, {{0, 1}}, Moment{});
        const uint64_t took = RunRace(race, {}, win, request.seed + i * 7919);
        return race.outcome() == RaceOutcome::kWon ? static_cast<double>(took) : 0.0;
      });
      std::erase(steps, 0.0);
      Put(row, "accepted" + ending, RateOf(steps.size(), request.runs));
      Put(row, "median_steps" + ending, MedianOf(steps));
    };
    put(kBarAlpha, "");
    put(OwnAlpha(), "_own");
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Scenario AaScenario() {
  return {"aa",
          "equal plans raced under continuous looking, six kinds of noise",
          2000,
          RunAa,
          {{"setting", "the noise: sigma and rho of AR(1), a period, wild drift, outliers"},
           {"delta0", "the gain that a win has to exceed; 0 tests the error rate itself"},
           {"false_accept_rate",
            "share of runs of 2,000 steps that ever accept, at an error share of 0.05, which the "
            "bars are of"},
           {"se", "its standard error"},
           {"false_accept_rate_own",
            "the same at the 0.025 that the planner gives its own first search race"}},
          {{"false_accept_rate", Sense::kAtMost, 0.05, {{"delta0", 0.0}}, true},
           {"false_accept_rate", Sense::kAtMost, 0.01, {{"delta0", 0.0025}}, false}}};
}

Scenario PowerScenario() {
  return {"power",
          "true wins of 0.5 to 5 % in a search race",
          2000,
          RunPower,
          {{"win", "true saving of a step"},
           {"delta0", "the gain that a win has to exceed"},
           {"accepted",
            "share of races that accept it, at an error share of 0.05, which the bars are of"},
           {"median_steps", "steps until they do, median of those that do"},
           {"accepted_own", "share at the 0.025 that the planner gives its own first search race"},
           {"median_steps_own", "and the steps until then"}},
          {{"accepted", Sense::kAtLeast, 0.97, {{"win", 0.01}}, false},
           {"median_steps", Sense::kAtMost, 70, {{"win", 0.01}}, false}}};
}

}  // namespace blazed::sim
