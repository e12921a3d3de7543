// A plan that is typically 1 % faster and rarely three times slower.
#include <cmath>

#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr double kWin = 0.01;
constexpr uint64_t kService = 20000;

struct TailsRun {
  bool settled = false, demoted = false;
};

TailsRun RunOne(double share, uint64_t seed) {
  const CostTable table({0.02, -kWin, 0.02});
  HostSettings settings;
  settings.tail_share = share;
  Host host(&table, settings, {}, {}, seed);
  const SessionId session = host.Attach("job");
  host.RunUntilEnd(session, kLongestSteps);
  TailsRun run;
  const auto settlement = host.settlement();
  run.settled = settlement && settlement->kind != SettlementKind::kNoWinner;
  if (!run.settled) return run;
  const uint64_t until = host.steps() + kService;
  while (host.demotions() == 0 && host.steps() < until) host.Serve(session, 256);
  run.demoted = host.demotions() > 0;
  return run;
}

std::vector<Row> RunTails(const Request& request) {
  std::vector<Row> rows;
  const std::vector<double> shares = {0, 0.005, 0.01, 0.02, 0.05};
  Workers workers(request, shares.size() * request.runs);
  for (double share : shares) {
    const auto runs = workers.Each<TailsRun>(
        request.runs, [&](uint64_t i) { return RunOne(share, SeedOf(request.seed, i)); });
    uint64_t settled = 0, demoted = 0;
    for (const TailsRun& run : runs) {
      settled += run.settled;
      demoted += run.demoted;
    }
    Row row = {{"tail_share", share}, {"mean_change", std::exp(-kWin) * (1 + 2 * share) - 1}};
    Put(row, "settled_rate", RateOf(settled, request.runs));
    Put(row, "demoted_rate", RateOf(demoted, settled));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Scenario TailsScenario() {
  return {"tails",
          "a plan that is typically 1 % faster and rarely takes three times as long",
          200,
          RunTails,
          {{"tail_share", "of its steps that take three times as long"},
           {"mean_change", "of the mean step's time; positive: the plan is slower on average"},
           {"settled_rate", "share of runs that settle it"},
           {"demoted_rate", "share of the settled ones demoted within 20,000 steps of service"}},
          {{"settled_rate", Sense::kAtLeast, 0.5, {{"tail_share", 0.0}}, false}}};
}

}  // namespace blazed::sim
