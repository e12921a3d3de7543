// A daemon that is started anew in the middle of searches.
#include <algorithm>

#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

struct RestartRun {
  SearchRun search;
  double happened = 0;  // restarts before the search ended
};

// At random moments of a search that takes `length` steps without any restart; where a restarted
// one ends before, what is left of them is left out.
RestartRun RunOne(const CostTable& table, uint32_t restarts, Restart how, double length,
                  uint64_t seed) {
  Random random(seed + 5);
  std::vector<uint64_t> moments(restarts);
  for (uint64_t& moment : moments) moment = 1 + random.Below(static_cast<uint64_t>(length));
  std::sort(moments.begin(), moments.end());
  Host host(&table, {}, {}, {}, seed + 7);
  const SessionId session = host.Attach("job");
  RestartRun run;
  for (const uint64_t moment : moments) {
    const uint64_t left = std::max(moment, host.steps() + 1) - host.steps();
    if (host.RunUntilEnd(session, left)) break;
    host.RestartDaemon(how);
    ++run.happened;
  }
  host.RunUntilEnd(session, kLongestSteps);
  run.search = Summarise(host, table, session, table.OracleLogCost(seed + 9));
  return run;
}

struct Case {
  const char* how;
  uint32_t restarts;
  Restart restart;
};

// The runs of one kind of workload; `lengths` has their lengths once no restart has come.
struct Side {
  TableSettings table;
  std::vector<double> lengths;
};

std::vector<SearchRun> RunSide(const Case& c, Side& side, const Request& request, Workers& workers,
                               std::vector<double>& happened) {
  if (side.lengths.empty()) side.lengths.assign(request.runs, 1);
  const auto runs = workers.Each<RestartRun>(request.runs, [&](uint64_t i) {
    const uint64_t seed = SeedOf(request.seed, i);
    return RunOne(CostTable(side.table, seed), c.restarts, c.restart, side.lengths[i], seed);
  });
  std::vector<SearchRun> searches;
  for (const RestartRun& run : runs) {
    searches.push_back(run.search);
    happened.push_back(run.happened);
  }
  if (c.restarts == 0) side.lengths = Values(searches, &SearchRun::steps);
  return searches;
}

Row RowOf(const Case& c, Side& winners, Side& nothing, const Request& request, Workers& workers) {
  std::vector<double> happened;
  const auto found = RunSide(c, winners, request, workers, happened);
  const auto nulls = RunSide(c, nothing, request, workers, happened);
  Row row = {{"boundaries", uint64_t{winners.table.boundaries}},
             {"how", std::string(c.how)},
             {"restarts", uint64_t{c.restarts}}};
  Put(row, "happened", MeanOf(happened, request.seed));
  Put(row, "capture", Capture(found, request.seed));
  Put(row, "steps", MedianOf(Values(found, &SearchRun::steps)));
  Put(row, "loss", MeanOf(Values(found, &SearchRun::loss), request.seed));
  Put(row, "worse", RateOf(Count(found, &SearchRun::worse), request.runs));
  Put(row, "false_accept_rate", FalseAccepts(found, request.seed));
  Put(row, "false_settle_rate", RateOf(Count(nulls, &SearchRun::settled), request.runs));
  Put(row, "null_steps", MedianOf(Values(nulls, &SearchRun::steps)));
  return row;
}

std::vector<Row> RunRestart(const Request& request) {
  // The first says how long a search is, from which the others draw their moments.
  const std::vector<Case> cases = {{"none", 0, Restart::kStopped},
                                   {"stopped", 1, Restart::kStopped},
                                   {"stopped", 3, Restart::kStopped},
                                   {"killed", 1, Restart::kKilled},
                                   {"killed", 3, Restart::kKilled}};
  const auto sizes = SizesOf(request, {34});
  Workers workers(request, 2 * sizes.size() * cases.size() * request.runs);
  std::vector<Row> rows;
  for (const uint32_t boundaries : sizes) {
    Side winners{TableOf(boundaries), {}}, nothing = winners;
    nothing.table.winners = false;
    for (const Case& c : cases) rows.push_back(RowOf(c, winners, nothing, request, workers));
  }
  return rows;
}

}  // namespace

Scenario RestartScenario() {
  return {"restart",
          "a daemon that is stopped or killed, and started anew, in the middle of searches",
          40,
          RunRestart,
          {{"how", "stopped: the search's state was written; killed: it was not"},
           {"restarts", "drawn for each run, over the steps that its search takes without any"},
           {"happened", "of them before the restarted search ended, mean"},
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
