// A device with a launch queue: what units find of a plan's true effect, and what single steps do.
#include <algorithm>
#include <cmath>

#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"
#include "daemon/planner/scale.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr double kMs = 1e6;
constexpr int kUnitPairs = 200;
constexpr double kLeastEffect = 0.01;  // errors of smaller effects are shares of this

struct Setting {
  const char* name;
  double host_ms, device_ms;        // of the default plan
  double host_after, device_after;  // of the plan
};

// The first two are medians of recorded workloads, launched step by step and as one graph.
const std::vector<Setting> kSettings = {
    {"host-bound, whole-step graph (mlp 1025)", 4.77, 3.40, 0.30, 3.40},
    {"host-bound, whole-step graph (attention 257)", 4.50, 2.03, 0.30, 2.03},
    {"host-bound, saves 5 % of the host's time", 4.77, 3.40, 4.5315, 3.40},
    {"host-bound, saves device time only", 4.77, 3.40, 4.77, 3.06},
    {"device-bound, saves 5 % of the device's time", 2.00, 5.00, 2.00, 4.75},
    {"device-bound, saves 2 % of the device's time", 2.00, 5.00, 2.00, 4.90},
    {"device-bound, saves host time only", 2.00, 5.00, 1.00, 5.00},
    {"device-bound, saves 20 % there and becomes host-bound", 3.60, 4.20, 3.60, 3.36},
};

double Saving(double log_ratio) { return 1 - std::exp(-log_ratio); }

double TrueEffect(const Setting& s) {
  return 1 - std::max(s.host_after, s.device_after) / std::max(s.host_ms, s.device_ms);
}

// Both plans on one queue, in a fair order: `warm` and `timed` steps between drained points, or,
// with nothing timed, single interleaved steps between the ends of their kernels.
double Interleaved(const Setting& s, uint32_t warm, uint32_t timed, uint64_t seed) {
  LaunchQueue queue({});
  StepNoise noise({}, seed);
  Random random(seed + 1);
  const auto step = [&](bool plan) {
    queue.Step(kMs * (plan ? s.host_after : s.host_ms) * std::exp(noise.Step(0, 0)),
               kMs * (plan ? s.device_after : s.device_ms));
  };
  const auto unit = [&](bool plan) {
    if (timed == 0) {
      const double before = queue.device_end();
      step(plan);
      return queue.device_end() - before;
    }
    for (uint32_t i = 0; i < warm; ++i) step(plan);
    queue.Drain();
    const double before = queue.host_now();
    for (uint32_t i = 0; i < timed; ++i) step(plan);
    queue.Drain();
    return queue.host_now() - before;
  };
  std::vector<double> ratios;
  for (int i = 0; i < kUnitPairs; ++i) {
    const bool plan_first = random.Coin();
    const double first = unit(plan_first), second = unit(!plan_first);
    ratios.push_back(std::log(plan_first ? second / first : first / second));
  }
  return Saving(Median(ratios));
}

struct QueueRun {
  double estimate = 0, units = 0, single = 0;
  uint32_t warm = 0, timed = 0;  // of the last lease that races ran
  bool settled = false;
};

void ReadLeases(const Host& host, QueueRun& run) {
  for (const Action& action : host.actions()) {
    const auto* lease = std::get_if<RunPairs>(&action);
    if (lease == nullptr || lease->champion == lease->challenger) continue;
    run.warm = lease->warm_steps;
    run.timed = lease->timed_steps;
  }
}

// The product's planner on such a host; its estimate is that of the longest race of the plan.
QueueRun RunOne(const Setting& s, uint64_t seed) {
  QueueRun run;
  const CostTable device({std::log(s.device_after / s.device_ms)});
  const CostTable host_costs({std::log(s.host_after / s.host_ms)});
  HostSettings settings;
  settings.step_ns = kMs * s.device_ms;
  settings.queue = QueueSettings{};
  settings.queue_host_ns = kMs * s.host_ms;
  settings.queue_host_costs = &host_costs;
  Host host(&device, settings, {}, {}, seed);
  const SessionId session = host.Attach("job");
  host.RunUntilEnd(session, kLongestSteps);
  const auto outcome = host.outcome(session);
  run.settled = outcome && outcome->outcome == Outcome::kSettled;
  size_t pairs = 0;
  for (const RaceRecord& race : host.races()) {
    if (race.challenger.empty() || race.pairs.size() < pairs) continue;
    pairs = race.pairs.size();
    run.estimate = Saving(race.effect.estimate);
  }
  ReadLeases(host, run);
  run.units = Interleaved(s, 2, 8, seed);
  run.single = Interleaved(s, 0, 0, seed);
  return run;
}

// Distance of the estimate from the truth, as a share of it.
Estimate ErrorOf(const Estimate& estimate, double truth) {
  const double size = std::max(std::fabs(truth), kLeastEffect);
  const double a = std::fabs(estimate.low - truth), b = std::fabs(estimate.high - truth);
  const bool inside = estimate.low <= truth && truth <= estimate.high;
  return {std::fabs(estimate.value - truth) / size, inside ? 0 : std::min(a, b) / size,
          std::max(a, b) / size, estimate.n};
}

Row RowOf(const Setting& s, const std::vector<QueueRun>& runs) {
  std::vector<double> estimates, units, singles;
  uint64_t settled = 0;
  for (const QueueRun& run : runs) {
    estimates.push_back(run.estimate);
    units.push_back(run.units);
    singles.push_back(run.single);
    settled += run.settled;
  }
  const double truth = TrueEffect(s);
  const Estimate estimate = MedianOf(estimates), unit = MedianOf(units);
  Row row = {{"setting", std::string(s.name)},
             {"warm_steps", uint64_t{runs.front().warm}},
             {"timed_steps", uint64_t{runs.front().timed}},
             {"true_effect", truth}};
  Put(row, "estimated_effect", estimate);
  Put(row, "error", ErrorOf(estimate, truth));
  Put(row, "settled", RateOf(settled, runs.size()));
  Put(row, "unit_2_8_effect", unit);
  Put(row, "unit_2_8_error", ErrorOf(unit, truth));
  Put(row, "single_step_effect", MedianOf(singles));
  return row;
}

std::vector<Row> RunQueue(const Request& request) {
  std::vector<Row> rows;
  Workers workers(request, kSettings.size() * request.runs);
  for (const Setting& setting : kSettings) {
    rows.push_back(RowOf(setting, workers.Each<QueueRun>(request.runs, [&](uint64_t i) {
      return RunOne(setting, SeedOf(request.seed, i));
    })));
  }
  return rows;
}

}  // namespace

Scenario QueueScenario() {
  return {
      "queue",
      "a host that runs ahead of its device by up to eight steps",
      40,
      RunQueue,
      {{"warm_steps", "w of the units that the planner ordered"},
       {"timed_steps", "k of them"},
       {"true_effect", "saving of a step in the long run"},
       {"estimated_effect", "what the planner's longest race says, median"},
       {"error",
        "distance of the two, as a share of the true effect, or of 1 % where that is "
        "more"},
       {"settled", "share of runs that settle the plan"},
       {"unit_2_8_effect", "what units of 2 warm and 8 timed steps between drained points give"},
       {"unit_2_8_error", "their error in the same way"},
       {"single_step_effect", "what single interleaved steps give, without drained points"}},
      {{"error", Sense::kAtMost, 0.1, {}, false},
       {"unit_2_8_error", Sense::kAtMost, 0.1, {}, false}}};
}

}  // namespace blazed::sim
