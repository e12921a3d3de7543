// A daemon that is started anew in the middle of searches.
#include <algorithm>

#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr uint64_t kMoments = 800;  // a restart comes within so many steps of the one before

SearchRun RunOne(const CostTable& table, uint32_t restarts, Restart how, uint64_t seed) {
  Host host(&table, {}, {}, {}, seed + 7);
  const SessionId session = host.Attach("job");
  Random random(seed + 5);
  for (uint32_t i = 0; i < restarts; ++i) {
    host.RunUntilEnd(session, 1 + random.Below(kMoments));
    host.RestartDaemon(how);
  }
  host.RunUntilEnd(session, kLongestSteps);
  return Summarise(host, table, session, table.OracleLogCost(seed + 9));
}

struct Case {
  const char* how;
  uint32_t restarts;
  Restart restart;
};

Row RowOf(const Case& c, const Request& request, Workers& workers) {
  const auto run = [&](bool winners) {
    return workers.Each<SearchRun>(request.runs, [&](uint64_t i) {
      const uint64_t seed = SeedOf(request.seed, i);
      TableSettings settings = TableOf(request.boundaries.empty() ? 34 : request.boundaries[0]);
      settings.winners = winners;
      return RunOne(CostTable(settings, seed), c.restarts, c.restart, seed);
    });
  };
  const auto found = run(true), nulls = run(false);
  uint64_t accepts = 0, wrong = 0;
  for (const SearchRun& r : found) {
    accepts += r.accepts;
    wrong += r.false_accepts;
  }
  Row row = {{"how", std::string(c.how)}, {"restarts", uint64_t{c.restarts}}};
  Put(row, "capture", Capture(found, request.seed));
  Put(row, "steps", MedianOf(Values(found, &SearchRun::steps)));
  Put(row, "loss", MeanOf(Values(found, &SearchRun::loss), request.seed));
  Put(row, "worse", RateOf(Count(found, &SearchRun::worse), request.runs));
  Put(row, "false_accept_rate", RateOf(wrong, accepts));
  Put(row, "false_settle_rate", RateOf(Count(nulls, &SearchRun::settled), request.runs));
  Put(row, "null_steps", MedianOf(Values(nulls, &SearchRun::steps)));
  return row;
}

std::vector<Row> RunRestart(const Request& request) {
  const std::vector<Case> cases = {{"none", 0, Restart::kStopped},
                                   {"stopped", 1, Restart::kStopped},
                                   {"stopped", 3, Restart::kStopped},
                                   {"killed", 1, Restart::kKilled},
                                   {"killed", 3, Restart::kKilled}};
  Workers workers(request, 2 * cases.size() * request.runs);
  std::vector<Row> rows;
  for (const Case& c : cases) rows.push_back(RowOf(c, request, workers));
  return rows;
}

}  // namespace

Scenario RestartScenario() {
  return {"restart",
          "a daemon that is stopped or killed, and started anew, in the middle of searches",
          40,
          RunRestart,
          {{"how", "stopped: the search's state was written; killed: it was not"},
           {"restarts", "in a run, each within 800 steps of the one before"},
           {"capture", "saving of the plan in use at the end, of what the best plan saves"},
           {"steps", "until the search ended, median"},
           {"loss", "steps of the default lost on slower plans, mean"},
           {"worse", "share of runs whose plan in use is slower than the default"},
           {"false_accept_rate", "share of won search races whose plan is not faster"},
           {"false_settle_rate", "share of runs without any winner that settle one"},
           {"null_steps", "until those ended, median"}},
          {{"capture", Sense::kAtLeast, 0.85, {}, false},
           {"worse", Sense::kAtMost, 0.01, {}, false},
           {"false_settle_rate", Sense::kAtMost, 0.01, {}, false}}};
}

}  // namespace blazed::sim
