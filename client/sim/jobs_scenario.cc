// Several jobs of one workload on one daemon: steps until all of them have the answer.
#include <algorithm>
#include <cmath>

#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

struct JobsRun {
  bool settled = false;
  double wall = 0;   // steps of the job that took longest
  double total = 0;  // of all jobs
};

JobsRun RunOne(uint32_t jobs, double win, double job_sd, uint64_t seed) {
  const CostTable gains({0.02, win > 0 ? -win : 0.02, 0.02, 0.02});
  TableSettings flat;
  flat.boundaries = 4;
  flat.flat = true;
  const CostTable equal(flat, seed);
  const CostTable& table = win > 0 ? gains : equal;
  HostSettings settings;
  settings.process_sd = job_sd;
  Host host(&table, settings, {}, {}, seed);
  std::vector<SessionId> sessions;
  for (uint32_t j = 0; j < jobs; ++j) sessions.push_back(host.Attach("job " + std::to_string(j)));
  for (SessionId session : sessions) host.RunUntilEnd(session, kLongestSteps);
  JobsRun run;
  const auto settlement = host.settlement();
  run.settled = settlement && settlement->kind != SettlementKind::kNoWinner;
  run.total = static_cast<double>(host.steps());
  for (SessionId session : sessions) {
    run.wall = std::max(run.wall, static_cast<double>(host.steps_of(session)));
  }
  return run;
}

std::vector<Row> RunJobs(const Request& request) {
  std::vector<Row> rows;
  struct Case {
    double win, job_sd;
  };
  const std::vector<Case> cases = {{0.01, 0}, {0.02, 0}, {0, 0}, {0, 0.003}};
  Workers workers(request, 4 * cases.size() * request.runs);
  for (const Case& c : cases) {
    for (uint32_t jobs : {1u, 2u, 4u, 8u}) {
      const auto runs = workers.Each<JobsRun>(request.runs, [&](uint64_t i) {
        return RunOne(jobs, c.win, c.job_sd, SeedOf(request.seed, i));
      });
      std::vector<double> wall, total;
      uint64_t settled = 0;
      for (const JobsRun& run : runs) {
        wall.push_back(run.wall);
        total.push_back(run.total);
        settled += run.settled;
      }
      Row row = {{"jobs", uint64_t{jobs}}, {"win", c.win}, {"job_sd", c.job_sd}};
      Put(row, "settled_rate", RateOf(settled, request.runs));
      Put(row, "wall_steps", MedianOf(wall));
      Put(row, "all_steps", MedianOf(total));
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

Scenario JobsScenario() {
  return {"jobs",
          "1, 2, 4 and 8 jobs of one workload at a time, with a win and without",
          300,
          RunJobs,
          {{"win", "true saving of the only plan that has one; 0: all plans are equal"},
           {"job_sd", "a plan's effect differs by this much between jobs"},
           {"settled_rate", "share of runs that settle a winner; at a win of 0 each is wrong"},
           {"wall_steps", "of the job that had its answer last, median"},
           {"all_steps", "of all jobs together, median"}},
          {{"settled_rate", Sense::kAtMost, 0.01, {{"win", 0.0}, {"job_sd", 0.0}}, false}}};
}

}  // namespace blazed::sim
