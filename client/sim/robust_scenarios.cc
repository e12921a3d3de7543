// Equal plans that look different: effects of one build or one process, and carry-over.
#include <algorithm>
#include <string>

#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr int kProcesses = 4;  // of a workload's life

// What the processes of one workload were told, where no plan is faster in the long run.
struct Life {
  uint8_t in_job = 0;      // one settled a winner for itself
  uint8_t true_there = 0;  // and that one was faster, in that process
  uint8_t served = 0;      // another adopted a settled winner without pairs of its own
  uint8_t replicated = 0;  // or after pairs of its own
};

bool WonReplication(const Host& host, SessionId session) {
  return std::any_of(host.races().begin(), host.races().end(), [&](const RaceRecord& race) {
    return race.session == session && race.kind == RaceKind::kReplication &&
           race.outcome == RaceOutcome::kWon;
  });
}

// Processes of equal signatures, one after another, so that nothing but their own starts differs.
Life RunLife(const HostSettings& settings, uint32_t boundaries, uint64_t seed) {
  TableSettings table_settings;
  table_settings.boundaries = boundaries;
  table_settings.flat = true;
  const CostTable table(table_settings, seed);
  Host host(&table, settings, {}, {}, seed + 7);
  Life life;
  for (int i = 0; i < kProcesses; ++i) {
    const std::string process = "process " + std::to_string(i);
    const SessionId session = host.Attach(process);
    host.RunUntilEnd(session, kLongestSteps);
    const auto end = host.outcome(session);
    if (end && end->outcome == Outcome::kSettled) {
      life.in_job = 1;
      life.true_there |= host.EffectOf(process, host.in_use(session)) < 0;
    }
    if (end && end->outcome == Outcome::kServed) {
      const bool in_job = host.settlement()->kind == SettlementKind::kInJob;
      if (in_job) life.served = 1;
      if (WonReplication(host, session)) life.replicated = 1;
    }
    host.Detach(session);
  }
  return life;
}

uint64_t CountLives(const std::vector<Life>& lives, bool (*holds)(const Life&)) {
  return static_cast<uint64_t>(std::count_if(lives.begin(), lives.end(), holds));
}

bool SettledInJob(const Life& life) { return life.in_job > 0; }
bool HandedOn(const Life& life) { return life.served + life.replicated > 0; }
bool EitherOf(const Life& life) { return SettledInJob(life) || HandedOn(life); }

void PutLives(Row& row, const std::vector<Life>& lives) {
  const uint64_t all = lives.size();
  Put(row, "in_job_rate", RateOf(CountLives(lives, SettledInJob), all));
  Put(row, "false_served_rate",
      RateOf(CountLives(lives, [](const Life& l) { return l.served > 0; }), all));
  Put(row, "false_replicated_rate",
      RateOf(CountLives(lives, [](const Life& l) { return l.replicated > 0; }), all));
}

void PutTruth(Row& row, const std::vector<Life>& lives) {
  const uint64_t true_there = CountLives(lives, [](const Life& l) { return l.true_there > 0; });
  Put(row, "true_there", RateOf(true_there, CountLives(lives, SettledInJob)));
}

std::vector<Row> RunEvaporate(const Request& request) {
  std::vector<Row> rows;
  Workers workers(request, 6 * request.runs);
  for (const bool process : {false, true}) {
    for (double sd : {0.0, 0.003, 0.006}) {
      HostSettings settings;
      (process ? settings.process_sd : settings.rebuild_sd) = sd;
      const auto lives = workers.Each<Life>(
          request.runs, [&](uint64_t i) { return RunLife(settings, 33, SeedOf(request.seed, i)); });
      Row row = {{"differs_by", std::string(process ? "process" : "build")}, {"session_sd", sd}};
      // What differs between builds is drawn again before anything settles, so there a win that a
      // process settles for itself is false as well.
      const uint64_t wrong = CountLives(lives, process ? HandedOn : EitherOf);
      Put(row, "false_settle_rate", RateOf(wrong, request.runs));
      PutLives(row, lives);
      if (process) PutTruth(row, lives);
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<Row> RunCarry(const Request& request) {
  std::vector<Row> rows;
  struct Setting {
    double carry, steps;
    const char* plan;
  };
  const std::vector<Setting> settings_of = {{0, 0, "default"},     {0.01, 0, "default"},
                                            {0.02, 0, "default"},  {0.01, 30, "default"},
                                            {0.02, 30, "default"}, {-0.02, 30, "other"}};
  Workers workers(request, settings_of.size() * request.runs);
  for (const Setting& of : settings_of) {
    HostSettings settings;
    const bool other = std::string(of.plan) == "other";
    (other ? settings.noise.carry_other : settings.noise.carry_default) = of.carry;
    settings.noise.carry_steps = of.steps;
    const auto lives = workers.Each<Life>(
        request.runs, [&](uint64_t i) { return RunLife(settings, 12, SeedOf(request.seed, i)); });
    Row row = {{"carry", of.carry}, {"fades_over", of.steps}, {"of", std::string(of.plan)}};
    Put(row, "false_settle_rate", RateOf(CountLives(lives, EitherOf), request.runs));
    PutLives(row, lives);
    rows.push_back(row);
  }
  return rows;
}

const Field kInJob = {"in_job_rate",
                      "share of lives in which a process settles a winner for itself"};
const Field kServed = {"false_served_rate",
                       "share of lives in which another process adopted one without pairs"};
const Field kReplicated = {"false_replicated_rate",
                           "share of lives in which another process replicated and adopted one"};

std::pair<std::string, Value> Of(const char* what) { return {"differs_by", std::string(what)}; }

}  // namespace

Scenario EvaporateScenario() {
  const std::vector<std::pair<std::string, Value>> process = {Of("process"), {"session_sd", 0.003}};
  const std::vector<std::pair<std::string, Value>> build = {Of("build"), {"session_sd", 0.003}};
  return {"evaporate",
          "equal plans whose times differ between builds, or between processes",
          300,
          RunEvaporate,
          {{"differs_by", "what draws a plan's effect again: each build, or each process"},
           {"session_sd", "standard deviation of that effect"},
           {"false_settle_rate",
            "share of lives of four processes in which one adopted what another had settled; where "
            "builds differ, also in which one settled a winner for itself"},
           kInJob,
           {"true_there", "share of those whose winner is faster in its own process"},
           kServed,
           kReplicated},
          {{"false_settle_rate", Sense::kAtMost, 0.01, build, false},
           {"false_settle_rate", Sense::kAtMost, 0.01, process, false},
           {"false_replicated_rate", Sense::kAtMost, 0.01, process, false}}};
}

Scenario CarryScenario() {
  return {
      "carry",
      "equal plans that pay, or gain, after each switch",
      300,
      RunCarry,
      {{"carry", "what the first step after a switch costs more"},
       {"fades_over", "steps by which that has fallen to a third; 0: it is the first step's"},
       {"of", "the plan whose steps it is: the default, or every other one"},
       {"false_settle_rate",
        "share of lives of four processes in which one settled or adopted a winner"},
       kInJob,
       kServed,
       kReplicated},
      {{"false_settle_rate", Sense::kAtMost, 0.01, {{"carry", 0.01}, {"fades_over", 0.0}}, false},
       {"false_settle_rate", Sense::kAtMost, 0.1, {{"carry", 0.02}, {"fades_over", 30.0}}, false}}};
}

}  // namespace blazed::sim
