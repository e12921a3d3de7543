// Dear builds: how much of the gain is there after how many of them.
#include <cmath>

#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr double kStepNs = 50e6, kSecond = 1e9;
constexpr double kBuildS = 10;
// A build has to pay within as many steps as the job has run: these jobs have run for 14 hours.
constexpr double kRunBefore = 1e6;

struct BuildsRun {
  double to_half = 0;  // builds until half of the final gain was in use
  double builds = 0, window_s = 0;
  bool found = false;
  SearchRun search;
};

// Builds before the first adopt of a plan with half of the gain that the last one has.
double BuildsToHalf(const Host& host, const CostTable& table, double final_cost) {
  const double half = 0.5 * (1 - std::exp(final_cost));
  double builds = 0;
  for (const Action& action : host.actions()) {
    if (std::holds_alternative<BuildVariant>(action)) ++builds;
    const auto* adopt = std::get_if<Adopt>(&action);
    if (adopt != nullptr && 1 - std::exp(table.LogCost(adopt->plan)) >= half) break;
  }
  return builds;
}

// One process after another, each where the last one left off, until the workload has its answer.
BuildsRun RunOne(uint32_t boundaries, uint32_t processes, double build_s, uint64_t seed) {
  BuildsRun run;
  const CostTable table(TableOf(boundaries), seed);
  HostSettings settings;
  settings.step_ns = kStepNs;
  settings.build_steps = build_s * kSecond / kStepNs;
  Host host(&table, settings, {}, {}, seed + 7);
  SessionId session = 0;
  for (uint32_t p = 0; p < processes; ++p) {
    if (p > 0) host.Detach(session);
    session = host.Attach("job " + std::to_string(p));
    host.Pass(kRunBefore);
    host.RunUntilEnd(session, kLongestSteps);
    const auto outcome = host.outcome(session);
    if (outcome) run.window_s += static_cast<double>(outcome->cost.window.count()) / kSecond;
    if (outcome && outcome->outcome != Outcome::kUndecided) break;
  }
  run.search = Summarise(host, table, session, table.OracleLogCost(seed + 9));
  run.builds = static_cast<double>(host.builds());
  const double cost = table.LogCost(host.in_use(session));
  run.found = cost < -1e-9;
  if (run.found) run.to_half = BuildsToHalf(host, table, cost);
  return run;
}

Row RowOf(uint32_t boundaries, uint32_t processes, double build_s, const Request& request,
          const std::vector<BuildsRun>& runs) {
  std::vector<double> to_half, builds, windows;
  std::vector<SearchRun> searches;
  uint64_t found = 0, worth = 0;
  for (const BuildsRun& run : runs) {
    if (run.found) to_half.push_back(run.to_half);
    builds.push_back(run.builds);
    windows.push_back(run.window_s);
    searches.push_back(run.search);
    worth += run.search.best > 0;
    found += run.found && run.search.best > 0;
  }
  Row row = {{"boundaries", uint64_t{boundaries}},
             {"processes", uint64_t{processes}},
             {"build_s", build_s}};
  Put(row, "builds_to_half", MedianOf(to_half));
  Put(row, "builds", MedianOf(builds));
  Put(row, "window_s", MedianOf(windows));
  Put(row, "found", RateOf(found, worth));
  Put(row, "capture", Capture(searches, request.seed));
  Put(row, "settled", RateOf(Count(searches, &SearchRun::settled), runs.size()));
  Put(row, "worse", RateOf(Count(searches, &SearchRun::worse), runs.size()));
  Put(row, "forecast_hits", ForecastHits(searches));
  return row;
}

std::vector<Row> RunBuilds(const Request& request) {
  std::vector<Row> rows;
  const auto sizes = SizesOf(request, {12, 34, 134});
  const double build_s = request.build_s.value_or(kBuildS);
  Workers workers(request, 2 * sizes.size() * request.runs);
  for (uint32_t boundaries : sizes) {
    for (uint32_t processes : {1u, 4u}) {
      const auto runs = workers.Each<BuildsRun>(request.runs, [&](uint64_t i) {
        return RunOne(boundaries, processes, build_s, SeedOf(request.seed, i));
      });
      rows.push_back(RowOf(boundaries, processes, build_s, request, runs));
    }
  }
  return rows;
}

}  // namespace

Scenario BuildsScenario() {
  return {
      "builds",
      "builds of 10 s at steps of 50 ms, in one long process and in up to four after another",
      100,
      RunBuilds,
      {{"processes", "how many at most, each where the last one left off"},
       {"build_s", "what a build takes, in seconds"},
       {"builds_to_half",
        "builds until half of the final gain is in use, median of the runs "
        "that find some"},
       {"builds", "in all, median"},
       {"window_s",
        "from the first build to the end of the search, median; idle time between "
        "processes is left out"},
       {"found", "share of the runs with something to find whose plan in use is faster"},
       {"capture", "saving of the plan in use at the end, of what the best plan saves"},
       {"settled", "share of runs that settle a winner"},
       {"worse", "share of runs whose plan in use is slower than the default"},
       {"forecast_hits", "share of runs whose window is within a factor of two of its forecast"}},
      {{"builds_to_half", Sense::kAtMost, 10, {{"processes", uint64_t{1}}}, false},
       {"found", Sense::kAtLeast, 0.5, {{"processes", uint64_t{1}}}, false}}};
}

}  // namespace blazed::sim
