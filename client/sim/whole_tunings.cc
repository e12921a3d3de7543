#include "client/sim/whole_tunings.h"

#include <cmath>

namespace blazed::sim {

using namespace planner;  // the host speaks the planner's vocabulary throughout

TableSettings TableOf(uint32_t boundaries) {
  TableSettings settings;
  settings.boundaries = boundaries;
  settings.choices = boundaries >= 34 ? 4 : 0;
  return settings;
}

std::vector<uint32_t> SizesOf(const Request& request, std::vector<uint32_t> own) {
  return request.boundaries.empty() ? std::move(own) : request.boundaries;
}

namespace {

void CountRaces(const Host& host, const CostTable& table, SearchRun& run) {
  for (const RaceRecord& race : host.races()) {
    if (race.kind != RaceKind::kSearch || race.outcome != RaceOutcome::kWon) continue;
    ++run.accepts;
    run.false_accepts += table.LogCost(race.challenger) >= table.LogCost(race.champion) - 1e-9;
  }
}

}  // namespace

SearchRun Summarise(const Host& host, const CostTable& table, SessionId session, double oracle) {
  SearchRun run;
  const double cost = table.LogCost(host.in_use(session));
  const double best = std::exp(std::min(0.0, oracle));
  run.steps = static_cast<double>(host.steps());
  run.loss = host.lost_steps();
  run.regret = host.run_steps() - run.steps * best +
               std::max(0.0, kHorizon - run.steps) * (std::exp(cost) - best);
  if (oracle < -1e-4) {
    run.got = 1 - std::exp(cost);
    run.best = 1 - best;
  }
  run.builds = host.builds();
  run.events = host.events().size();
  run.worse = cost > 1e-9;
  CountRaces(host, table, run);
  const auto outcome = host.outcome(session);
  run.ended = outcome.has_value();
  const auto settlement = host.settlement();
  run.settled = settlement && settlement->kind != SettlementKind::kNoWinner;
  const auto forecast = host.forecast();
  if (outcome && forecast && forecast->window.count() > 0) {
    run.forecast_ratio = static_cast<double>(outcome->cost.window.count()) /
                         static_cast<double>(forecast->window.count());
  }
  return run;
}

SearchRun RunSearch(const CostTable& table, const HostSettings& settings, uint64_t seed) {
  Host host(&table, settings, {}, {}, seed + 7);
  const SessionId session = host.Attach("job");
  host.RunUntilEnd(session, kLongestSteps);
  return Summarise(host, table, session, table.OracleLogCost(seed + 9));
}

std::vector<double> Values(const std::vector<SearchRun>& runs, double SearchRun::*field) {
  std::vector<double> values;
  for (const SearchRun& run : runs) values.push_back(run.*field);
  return values;
}

uint64_t Count(const std::vector<SearchRun>& runs, bool SearchRun::*field) {
  uint64_t count = 0;
  for (const SearchRun& run : runs) count += run.*field ? 1 : 0;
  return count;
}

Estimate Capture(const std::vector<SearchRun>& runs, uint64_t seed) {
  return RatioOf(Values(runs, &SearchRun::got), Values(runs, &SearchRun::best), seed);
}

Estimate ForecastHits(const std::vector<SearchRun>& runs) {
  uint64_t hits = 0, all = 0;
  for (const SearchRun& run : runs) {
    if (run.forecast_ratio <= 0) continue;
    ++all;
    hits += run.forecast_ratio >= 0.5 && run.forecast_ratio <= 2;
  }
  return RateOf(hits, all);
}

Estimate FalseAccepts(const std::vector<SearchRun>& runs, uint64_t seed) {
  std::vector<double> wrong, all;
  for (const SearchRun& run : runs) {
    wrong.push_back(static_cast<double>(run.false_accepts));
    all.push_back(static_cast<double>(run.accepts));
  }
  return RateOverRuns(wrong, all, seed);
}

}  // namespace blazed::sim
