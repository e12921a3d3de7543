// The planner beside what people would pick instead: same workloads, noise and budget.
#include <algorithm>
#include <cmath>
#include <optional>

#include "client/sim/baselines.h"
#include "client/sim/contest.h"
#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr uint64_t kSlice = 64;  // steps between looks at the budget

// Ours pays for its probes as well, which no other method has.
Score RunOurs(const Contest& contest, uint64_t seed) {
  HostSettings host_settings;
  host_settings.step_ns = contest.step_ns;
  host_settings.build_steps = contest.arena.build_steps;
  host_settings.noise = contest.arena.noise;
  Host host(&contest.table, host_settings, {}, {}, seed);
  const SessionId session = host.Attach("job");
  const auto spent = [&] { return host.run_steps() + host.overhead_steps(); };
  while (spent() < contest.arena.budget && !host.RunUntilEnd(session, kSlice)) {
  }
  return ScoreOf(contest.table, contest.arena, contest.table.OracleLogCost(seed + 9),
                 static_cast<double>(host.steps()), spent(), static_cast<double>(host.builds()),
                 host.in_use(session));
}

Row RowOf(const std::string& space, double build_s, const char* method,
          const std::vector<Score>& scores, uint64_t seed) {
  std::vector<double> wall, regret, got, best, builds, steps;
  uint64_t worse = 0, claims = 0, wrong = 0;
  for (const Score& s : scores) {
    wall.push_back(s.wall);
    regret.push_back(s.regret);
    got.push_back(s.got);
    best.push_back(s.best);
    builds.push_back(s.builds);
    steps.push_back(s.trial_steps);
    worse += s.worse;
    claims += s.claims;
    wrong += s.false_claim;
  }
  Row row = {{"space", space}, {"build_s", build_s}, {"method", std::string(method)}};
  Put(row, "wall", MeanOf(wall, seed));
  Put(row, "regret", MeanOf(regret, seed));
  Put(row, "capture", RatioOf(got, best, seed));
  Put(row, "worse", RateOf(worse, scores.size()));
  Put(row, "false_claims", RateOf(wrong, claims));
  Put(row, "builds", MedianOf(builds));
  Put(row, "trial_steps", MedianOf(steps));
  return row;
}

void AddRows(const std::string& space, double build_s, const Request& request, Workers& workers,
             std::vector<Row>& rows) {
  const auto run = [&](const char* name, const auto& method) {
    const auto scores = workers.Each<Score>(request.runs, [&](uint64_t i) {
      const uint64_t seed = SeedOf(request.seed, i);
      return method(*ContestOf(space, build_s, seed), NoiseSeedOf(seed));
    });
    rows.push_back(RowOf(space, build_s, name, scores, request.seed));
  };
  run("ours", RunOurs);
  const double plans = PlansOf(ContestOf(space, build_s, request.seed)->table);
  for (const Baseline& baseline : Baselines()) {
    if (plans > baseline.most_plans) continue;
    run(baseline.name, [&](const Contest& contest, uint64_t seed) {
      Arena arena(&contest.table, contest.arena, seed);
      return arena.Finish(baseline.choose(arena, seed + 1));
    });
  }
}

std::vector<Row> RunCompare(const Request& request) {
  std::vector<std::string> spaces;
  for (uint32_t size : SizesOf(request, {5, 12, 34, 134})) spaces.push_back(std::to_string(size));
  if (request.boundaries.empty()) {
    for (const std::string& name : RecordedSpaces()) spaces.push_back(name);
  }
  std::vector<double> builds = {0, 10};
  if (request.build_s) builds = {*request.build_s};
  std::vector<Row> rows;
  Workers workers(request, spaces.size() * builds.size() * (1 + Baselines().size()) * request.runs);
  for (const std::string& space : spaces) {
    for (double build_s : builds) AddRows(space, build_s, request, workers, rows);
  }
  return rows;
}

}  // namespace

Scenario CompareScenario() {
  return {"compare",
          "the planner beside what people would pick instead: same workloads, noise and budget",
          100,
          RunCompare,
          {{"space", "boundaries of drawn workloads, or a recorded plan table"},
           {"build_s", "what a build takes, in seconds"},
           {"wall",
            "of a job of 20,000 steps with all trials, builds and probes, in steps of the "
            "default plan; mean"},
           {"regret", "of it, what the best plan from the first step on would have saved; mean"},
           {"capture", "saving of the final plan, of what the best plan saves"},
           {"worse", "share of runs whose final plan is slower than the default"},
           {"false_claims", "share of claimed wins whose plan is not faster"},
           {"builds", "median"},
           {"trial_steps", "median"}},
          {{"false_claims", Sense::kAtMost, 0.05, {{"method", std::string("ours")}}, false},
           {"worse", Sense::kAtMost, 0.01, {{"method", std::string("ours")}}, false}}};
}

}  // namespace blazed::sim
