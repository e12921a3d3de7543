// A settled gain that turns into a loss, and one that stays.
#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr uint64_t kService = 60000;

struct DriftRun {
  bool served = false, flipped = false, found = false;
  double delay = 0, steps = 0;
  uint64_t false_demotions = 0;
};

// Settles a gain of 2 %, serves it for 60,000 steps, then lets it become `after`.
DriftRun RunOne(double after, uint64_t seed) {
  DriftRun run;
  const CostTable table({0.02, -0.02, 0.02, 0.02});
  CostTable live = table;
  Host host(&table, {}, {}, {}, seed);
  host.live_table = &live;
  const SessionId session = host.Attach("job");
  host.RunUntilEnd(session, kLongestSteps);
  if (host.in_use(session).empty() || !host.settled(session)) return run;
  run.served = true;
  const uint64_t before = host.steps();
  // The flip comes at a moment that the check's timer knows nothing of.
  Random random(seed + 3);
  const uint64_t until = before + kService + random.Below(16000);
  while (host.demotions() == 0 && host.steps() < until) host.Serve(session, 256);
  run.steps = static_cast<double>(host.steps() - before);
  run.false_demotions = host.demotions();
  if (host.demotions() > 0) return run;
  run.flipped = true;
  live.SetCost(1, 1, after);
  const uint64_t flip = host.steps();
  while (host.demotions() == 0 && host.steps() < flip + kService) host.Serve(session, 256);
  run.found = host.demotions() > 0;
  run.delay = static_cast<double>((run.found ? host.demoted_at() : host.steps()) - flip);
  return run;
}

std::vector<Row> RunDrift(const Request& request) {
  std::vector<Row> rows;
  const std::vector<double> flips = {0.02, 0.05};
  Workers workers(request, flips.size() * request.runs);
  for (double after : flips) {
    const auto runs = workers.Each<DriftRun>(
        request.runs, [&](uint64_t i) { return RunOne(after, SeedOf(request.seed, i)); });
    std::vector<double> delays;
    uint64_t demoted = 0, served = 0, flipped = 0, found = 0;
    double steps = 0;
    for (const DriftRun& run : runs) {
      if (run.flipped) delays.push_back(run.delay);
      demoted += run.false_demotions;
      served += run.served;
      flipped += run.flipped;
      found += run.found;
      steps += run.steps;
    }
    Row row = {{"gain", 0.02}, {"after", -after}};
    Put(row, "median_delay_steps", MedianOf(delays));
    Put(row, "found", RateOf(found, flipped));
    row.push_back({"false_demotions", demoted});
    row.push_back({"steps", static_cast<uint64_t>(steps)});
    Put(row, "false_demotion_rate", RateOf(demoted, served));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Scenario DriftScenario() {
  return {"drift",
          "a settled win of 2 % that turns into a loss after 60,000 steps of service",
          200,
          RunDrift,
          {{"gain", "saving when it was settled"},
           {"after", "saving after the flip"},
           {"median_delay_steps", "from the flip to the demotion; 60,000 where there was none"},
           {"found", "share of flips that were demoted"},
           {"false_demotions", "before the flip, all runs together"},
           {"steps", "of service before the flip, all runs together"},
           {"false_demotion_rate", "share of services of 60,000 steps and more with one"}},
          {{"median_delay_steps", Sense::kAtMost, 200, {{"after", -0.02}}, false},
           {"false_demotions", Sense::kAtMost, 0, {}, false}}};
}

}  // namespace blazed::sim
