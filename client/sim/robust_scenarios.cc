// Equal plans that look different: effects of one build or one process, and carry-over.
#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

struct Claims {
  uint8_t settled = 0;     // a winner, by the first process
  uint8_t replicated = 0;  // and still one after a second process replicated it
};

// The second process has signatures of its own, so it does not take the settlement's word.
Claims RunTwoProcesses(const HostSettings& settings, uint32_t boundaries, uint64_t seed) {
  TableSettings table_settings;
  table_settings.boundaries = boundaries;
  table_settings.flat = true;
  const CostTable table(table_settings, seed);
  Host host(&table, settings, {}, {}, seed + 7);
  const SessionId first = host.Attach("first");
  host.RunUntilEnd(first, kLongestSteps);
  const auto end = host.outcome(first);
  Claims claims;
  claims.settled = end && end->outcome == Outcome::kSettled;
  if (claims.settled == 0) return claims;
  host.Detach(first);
  host.SetSalt("second", 1);
  const SessionId second = host.Attach("second");
  host.RunUntilEnd(second, kLongestSteps);
  claims.replicated = host.settlement() && host.settlement()->kind == SettlementKind::kReplicated;
  return claims;
}

Row RatesOf(Row row, const std::vector<Claims>& runs) {
  uint64_t settled = 0, replicated = 0;
  for (const Claims& claims : runs) {
    settled += claims.settled;
    replicated += claims.replicated;
  }
  Put(row, "false_settle_rate", RateOf(settled, runs.size()));
  Put(row, "false_replicated_rate", RateOf(replicated, runs.size()));
  return row;
}

std::vector<Row> RunEvaporate(const Request& request) {
  std::vector<Row> rows;
  Workers workers(request, 6 * request.runs);
  for (const bool process : {false, true}) {
    for (double sd : {0.0, 0.003, 0.006}) {
      HostSettings settings;
      (process ? settings.process_sd : settings.rebuild_sd) = sd;
      const auto runs = workers.Each<Claims>(request.runs, [&](uint64_t i) {
        return RunTwoProcesses(settings, 33, SeedOf(request.seed, i));
      });
      rows.push_back(RatesOf(
          {{"differs_by", std::string(process ? "process" : "build")}, {"session_sd", sd}}, runs));
    }
  }
  return rows;
}

std::vector<Row> RunCarry(const Request& request) {
  std::vector<Row> rows;
  Workers workers(request, 3 * request.runs);
  for (double carry : {0.0, 0.01, 0.02}) {
    HostSettings settings;
    settings.noise.carry_default = carry;
    const auto runs = workers.Each<Claims>(request.runs, [&](uint64_t i) {
      return RunTwoProcesses(settings, 12, SeedOf(request.seed, i));
    });
    rows.push_back(RatesOf({{"carry", carry}}, runs));
  }
  return rows;
}

const Field kFalseSettle = {"false_settle_rate",
                            "share of runs that settle a winner, in the job or beyond"};
const Field kFalseReplicated = {"false_replicated_rate",
                                "share of runs whose winner a second process replicated as well"};

}  // namespace

Scenario EvaporateScenario() {
  return {"evaporate",
          "equal plans whose times differ between builds, or between processes",
          300,
          RunEvaporate,
          {{"differs_by", "what draws a plan's effect again: each build, or each process"},
           {"session_sd", "standard deviation of that effect"},
           kFalseSettle,
           kFalseReplicated},
          {{"false_settle_rate",
            Sense::kAtMost,
            0.01,
            {{"differs_by", std::string("build")}, {"session_sd", 0.003}},
            false},
           {"false_settle_rate",
            Sense::kAtMost,
            0.01,
            {{"differs_by", std::string("process")}, {"session_sd", 0.003}},
            false},
           {"false_replicated_rate",
            Sense::kAtMost,
            0.01,
            {{"differs_by", std::string("process")}, {"session_sd", 0.003}},
            false}}};
}

Scenario CarryScenario() {
  return {"carry",
          "equal plans, and a default that pays after each switch",
          300,
          RunCarry,
          {{"carry", "what the first step of the default after a switch costs more"},
           kFalseSettle,
           kFalseReplicated},
          {{"false_settle_rate", Sense::kAtMost, 0.01, {{"carry", 0.01}}, false}}};
}

}  // namespace blazed::sim
