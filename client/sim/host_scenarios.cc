#include "client/sim/host_scenarios.h"

#include <cmath>

#include "client/sim/host.h"
#include "daemon/planner/scale.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr uint64_t kLongestSteps = 200000;
constexpr uint32_t kSpaces[] = {5, 12, 34, 134};

TableSettings TableOf(uint32_t boundaries) {
  TableSettings settings;
  settings.boundaries = boundaries;
  settings.choices = boundaries >= 34 ? 4 : 0;
  return settings;
}

uint64_t SeedOf(uint64_t seed, uint64_t run) { return seed * 1000003 + run * 31; }

double Share(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// False settlements on tables where no plan is faster, under these host settings.
double FalseSettleRate(uint32_t boundaries, const HostSettings& settings, bool flat, uint64_t runs,
                       uint64_t seed, const std::function<void()>& step) {
  uint64_t settled = 0;
  for (uint64_t i = 0; i < runs; ++i) {
    TableSettings table_settings = TableOf(boundaries);
    table_settings.winners = false;
    table_settings.flat = flat;
    const CostTable table(table_settings, SeedOf(seed, i));
    Host host(&table, settings, {}, {}, SeedOf(seed, i) + 7);
    const SessionId s = host.Attach("job");
    host.RunUntilEnd(s, kLongestSteps);
    const auto end = host.outcome(s);
    settled += end && end->outcome == Outcome::kSettled ? 1 : 0;
    step();
  }
  return Share(settled, runs);
}

struct SearchSum {
  std::vector<double> steps, lost, builds;
  double got = 0, best = 0;
  uint64_t worse = 0, accepts = 0, false_accepts = 0;
};

void AddSearch(uint32_t boundaries, uint64_t seed, SearchSum& sum) {
  const CostTable table(TableOf(boundaries), seed);
  Host host(&table, {}, {}, {}, seed + 7);
  const SessionId s = host.Attach("job");
  host.RunUntilEnd(s, kLongestSteps);
  const double cost = table.LogCost(host.in_use(s)), oracle = table.OracleLogCost(seed + 9);
  sum.steps.push_back(static_cast<double>(host.steps()));
  sum.lost.push_back(host.lost_steps());
  sum.builds.push_back(static_cast<double>(host.builds()));
  sum.worse += cost > 1e-9 ? 1 : 0;
  if (oracle < -1e-4) {
    sum.got += 1 - std::exp(cost);
    sum.best += 1 - std::exp(oracle);
  }
  for (const RaceRecord& race : host.races()) {
    if (race.kind != RaceKind::kSearch || race.outcome != RaceOutcome::kWon) continue;
    ++sum.accepts;
    sum.false_accepts += table.LogCost(race.challenger) >= table.LogCost(race.champion) - 1e-9;
  }
}

}  // namespace

std::vector<Row> RunNull(uint64_t runs, uint64_t seed, const Progress& progress) {
  std::vector<Row> rows;
  double done = 0;
  const double all = static_cast<double>(std::size(kSpaces) * runs);
  for (uint32_t boundaries : kSpaces) {
    const double rate =
        FalseSettleRate(boundaries, {}, false, runs, seed, [&] { progress(++done / all); });
    rows.push_back({{"boundaries", uint64_t{boundaries}}, {"settled_rate", rate}});
  }
  return rows;
}

std::vector<Row> RunSearch(uint64_t runs, uint64_t seed, const Progress& progress) {
  std::vector<Row> rows;
  double done = 0;
  const double all = static_cast<double>(std::size(kSpaces) * runs);
  for (uint32_t boundaries : kSpaces) {
    SearchSum sum;
    for (uint64_t i = 0; i < runs; ++i) {
      AddSearch(boundaries, SeedOf(seed, i), sum);
      progress(++done / all);
    }
    rows.push_back({{"boundaries", uint64_t{boundaries}},
                    {"method", std::string("ours")},
                    {"steps", Median(sum.steps)},
                    {"builds", Median(sum.builds)},
                    {"regret", Median(sum.lost)},
                    {"capture", sum.best > 0 ? sum.got / sum.best : 0.0},
                    {"worse", Share(sum.worse, runs)},
                    {"false_accept_rate", Share(sum.false_accepts, sum.accepts)}});
  }
  return rows;
}

std::vector<Row> RunCarry(uint64_t runs, uint64_t seed, const Progress& progress) {
  std::vector<Row> rows;
  double done = 0;
  for (double carry : {0.0, 0.01, 0.02}) {
    HostSettings settings;
    settings.noise.carry_default = carry;
    const double rate = FalseSettleRate(12, settings, true, runs, seed,
                                        [&] { progress(++done / static_cast<double>(3 * runs)); });
    rows.push_back({{"carry", carry}, {"false_settle_rate", rate}});
  }
  return rows;
}

// Effects that are constant in one build of a plan and drawn again in the next.
std::vector<Row> RunEvaporate(uint64_t runs, uint64_t seed, const Progress& progress) {
  std::vector<Row> rows;
  double done = 0;
  for (double sd : {0.0, 0.003, 0.006}) {
    HostSettings settings;
    settings.rebuild_sd = sd;
    const double rate = FalseSettleRate(34, settings, true, runs, seed,
                                        [&] { progress(++done / static_cast<double>(3 * runs)); });
    rows.push_back({{"session_sd", sd}, {"false_settle_rate", rate}});
  }
  return rows;
}

// A settled gain of 2 % that turns into a loss of 2 %, and one that stays.
std::vector<Row> RunDrift(uint64_t runs, uint64_t seed, const Progress& progress) {
  constexpr uint64_t kService = 60000;
  std::vector<double> delays;
  uint64_t false_demotions = 0, served = 0;
  for (uint64_t i = 0; i < runs; ++i) {
    progress(static_cast<double>(i) / static_cast<double>(runs));
    const CostTable table({0.02, -0.02, 0.02, 0.02});
    CostTable live = table;
    Host host(&table, {}, {}, {}, SeedOf(seed, i));
    host.live_table = &live;
    const SessionId s = host.Attach("job");
    host.RunUntilEnd(s, kLongestSteps);
    if (host.in_use(s).empty()) continue;
    const uint64_t before = host.steps();
    while (host.demotions() == 0 && host.steps() < before + kService) host.Serve(s, 1000);
    served += host.steps() - before;
    false_demotions += host.demotions();
    if (host.demotions() > 0) continue;
    live.SetCost(1, 1, 0.02);
    const uint64_t flipped = host.steps();
    while (host.demotions() == 0 && host.steps() < flipped + kService) host.Serve(s, 256);
    delays.push_back(static_cast<double>(host.steps() - flipped));
  }
  return {{{"median_delay_steps", Median(delays)},
           {"false_demotions", false_demotions},
           {"steps", served}}};
}

}  // namespace blazed::sim
