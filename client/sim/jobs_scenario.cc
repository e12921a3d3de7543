// Several jobs of one workload on one daemon, each on a device of its own: one race of theirs, and
// steps until all of them have the answer.
#include <algorithm>
#include <cmath>
#include <memory>

#include "client/sim/noise.h"
#include "client/sim/scenario_list.h"
#include "client/sim/single_race.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr uint64_t kRaceSteps = 2000;
const std::vector<uint32_t> kJobs = {1, 2, 4, 8};

struct Case {
  double win, job_sd;
};

// ---- one race: evidence alone, every job has both plans ----

// Steps on the wall until the race is won; 0 where it is not.
double RaceOnce(uint32_t jobs, const Case& c, uint64_t seed) {
  Random draw(seed);
  std::vector<std::unique_ptr<StepNoise>> machines;
  std::vector<Racer> racers;
  for (uint32_t j = 0; j < jobs; ++j) {
    machines.push_back(std::make_unique<StepNoise>(NoiseSettings{}, draw.Next()));
    StepNoise& machine = *machines.back();
    const NextPair next = [&machine] {
      const double first = machine.Step(0, 0);
      return std::pair(first, machine.Step(0, 0));
    };
    racers.push_back({next, c.win + c.job_sd * draw.Normal()});
  }
  Race race(1, TermsOf(0.0025, 0.1, kRaceSteps / 2), {}, {{0, 1}}, Moment{});
  const uint64_t steps = DriveRace(race, racers, kRaceSteps, seed);
  return race.outcome() == RaceOutcome::kWon ? static_cast<double>(steps) : 0;
}

Row RaceRow(Workers& workers, const Request& request, uint32_t jobs, const Case& c) {
  const auto runs = workers.Each<double>(
      request.runs, [&](uint64_t i) { return RaceOnce(jobs, c, SeedOf(request.seed, i)); });
  std::vector<double> won;
  for (double steps : runs) {
    if (steps > 0) won.push_back(steps);
  }
  Row row = {{"jobs", uint64_t{jobs}}, {"win", c.win}, {"job_sd", c.job_sd}};
  Put(row, "accepted", RateOf(won.size(), request.runs));
  if (c.win > 0) Put(row, "race_steps", MedianOf(won));
  return row;
}

// ---- whole tunings ----

struct JobsRun {
  bool settled = false;
  double wall = 0;   // steps of the job that took longest
  double total = 0;  // of all jobs
  double pairs = 0;  // steps on the wall that races and their builds took
};

// Opening to end, of all races, in steps of the default plan.
double StepsInRaces(const Host& host, const HostSettings& settings) {
  double steps = 0;
  for (const RaceRecord& race : host.races()) {
    steps += static_cast<double>((race.ended - race.started).count()) / settings.step_ns;
  }
  return steps;
}

JobsRun TuneOnce(uint32_t jobs, const Case& c, uint64_t seed) {
  const CostTable gains({0.02, c.win > 0 ? -c.win : 0.02, 0.02, 0.02});
  TableSettings flat;
  flat.boundaries = 4;
  flat.flat = true;
  const CostTable equal(flat, seed);
  const CostTable& table = c.win > 0 ? gains : equal;
  HostSettings settings;
  settings.process_sd = c.job_sd;
  Host host(&table, settings, {}, {}, seed);
  std::vector<SessionId> sessions;
  for (uint32_t j = 0; j < jobs; ++j) {
    const std::string number = std::to_string(j);
    sessions.push_back(host.Attach("job " + number, Mode::kTune, "GPU-" + number));
  }
  for (SessionId session : sessions) host.RunUntilEnd(session, kLongestSteps);
  JobsRun run;
  const auto settlement = host.settlement();
  run.settled = settlement && settlement->kind != SettlementKind::kNoWinner;
  run.total = static_cast<double>(host.steps());
  run.pairs = StepsInRaces(host, settings);
  for (SessionId session : sessions) {
    run.wall = std::max(run.wall, static_cast<double>(host.steps_of(session)));
  }
  return run;
}

Row TuningRow(Workers& workers, const Request& request, uint32_t jobs, const Case& c) {
  const auto runs = workers.Each<JobsRun>(
      request.runs, [&](uint64_t i) { return TuneOnce(jobs, c, SeedOf(request.seed, i)); });
  std::vector<double> wall, total, pairs;
  uint64_t settled = 0;
  for (const JobsRun& run : runs) {
    wall.push_back(run.wall);
    total.push_back(run.total);
    pairs.push_back(run.pairs);
    settled += run.settled;
  }
  Row row = {{"jobs", uint64_t{jobs}}, {"win", c.win}, {"job_sd", c.job_sd}};
  Put(row, "settled_rate", RateOf(settled, request.runs));
  Put(row, "wall_steps", MedianOf(wall));
  Put(row, "all_steps", MedianOf(total));
  Put(row, "races_wall_steps", MedianOf(pairs));
  return row;
}

std::vector<Row> RunJobs(const Request& request) {
  const std::vector<Case> races = {{0.01, 0}, {0.02, 0}, {0, 0}, {0, 0.003}};
  const std::vector<Case> tunings = {{0.01, 0}, {0.02, 0}, {0, 0}, {0, 0.003}};
  Workers workers(request, kJobs.size() * (races.size() + tunings.size()) * request.runs);
  std::vector<Row> rows;
  for (const Case& c : races) {
    for (uint32_t jobs : kJobs) rows.push_back(RaceRow(workers, request, jobs, c));
  }
  for (const Case& c : tunings) {
    for (uint32_t jobs : kJobs) rows.push_back(TuningRow(workers, request, jobs, c));
  }
  return rows;
}

// A 1 % win takes one job 56 steps; n jobs share them. The bars leave each a quarter more.
Bar RaceBar(uint64_t jobs, double steps) {
  return {"race_steps", Sense::kAtMost, steps, {{"win", 0.01}, {"jobs", jobs}}, false};
}

}  // namespace

Scenario JobsScenario() {
  return {"jobs",
          "1, 2, 4 and 8 jobs of one workload at a time, with a win and without",
          300,
          RunJobs,
          {{"win", "true saving of the only plan that has one; 0: all plans are equal"},
           {"job_sd", "a plan's effect differs by this much between jobs"},
           {"accepted", "share of single races that accept the plan; at a win of 0 each is wrong"},
           {"race_steps", "of each job until they do, where all have both plans, median"},
           {"settled_rate", "share of runs that settle a winner; at a win of 0 each is wrong"},
           {"wall_steps", "of the job that had its answer last, median"},
           {"all_steps", "of all jobs together, median"},
           {"races_wall_steps", "from the opening to the end of all races, builds included"}},
          {{"settled_rate", Sense::kAtMost, 0.01, {{"win", 0.0}, {"job_sd", 0.0}}, false},
           {"accepted", Sense::kAtMost, 0.01, {{"win", 0.0}, {"job_sd", 0.0}}, false},
           RaceBar(1, 70),
           RaceBar(2, 35),
           RaceBar(4, 18),
           RaceBar(8, 10)}};
}

}  // namespace blazed::sim
