// A plan that is typically 1 % faster and rarely three times slower.
#include <algorithm>
#include <cmath>

#include "client/sim/scenario_list.h"
#include "client/sim/single_race.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"
#include "daemon/planner/scale.h"

namespace blazed::sim {
namespace {

using namespace planner;  // the host speaks the planner's vocabulary throughout

constexpr double kWin = 0.01;
constexpr uint64_t kService = 20000;
constexpr double kStepNs = 1e7;  // of log time 0
constexpr int kRingPairs = 16;

// Paired steps after an accepted race, as the reference simulation counts them.
constexpr uint64_t kPairedSteps = 4000;

struct TailsRun {
  bool settled = false, vetoed = false, demoted = false;
};

bool EndedByItsTail(const RaceRecord& race) { return race.reason.starts_with(kTailReason); }

TailsRun RunOne(double share, uint64_t seed) {
  const CostTable table({0.02, -kWin, 0.02});
  HostSettings settings;
  settings.tail_share = share;
  Host host(&table, settings, {}, {}, seed);
  const SessionId session = host.Attach("job");
  host.RunUntilEnd(session, kLongestSteps);
  TailsRun run;
  run.vetoed = std::any_of(host.races().begin(), host.races().end(), EndedByItsTail);
  const auto settlement = host.settlement();
  run.settled = settlement && settlement->kind != SettlementKind::kNoWinner;
  if (!run.settled) return run;
  const uint64_t until = host.steps() + kService;
  while (host.demotions() == 0 && host.steps() < until) host.Serve(session, 256);
  run.demoted = host.demotions() > 0;
  return run;
}

struct PairedRun {
  bool accepted = false, vetoed = false, found = false;
};

// One race and its guard, without a search around them; accepted pairs go on.
PairedRun RunPaired(double share, uint64_t seed) {
  StepNoise noise({}, seed);
  Random random(seed ^ 0x7a115ULL);
  const auto plan = [&] {
    return noise.Step(-kWin, 1) + (random.Uniform() < share ? std::log(kTailFactor) : 0);
  };
  ScaleRing ring;
  for (int i = 0; i < kRingPairs; ++i) {
    const double first = noise.Step(0, 0);
    ring.Push(noise.Step(0, 0) - first);
  }
  Race race(1, TermsOf(0.0025, 0.1, kPairedSteps), {}, {{0, 1}}, Moment{});
  TailGuard guard;
  PairedRun run;
  uint64_t after = 0;
  while (!race.ended() || (run.accepted && after < kPairedSteps && !run.found)) {
    const bool plan_first = random.Coin();
    const double first = plan_first ? plan() : noise.Step(0, 0);
    const double second = plan_first ? noise.Step(0, 0) : plan();
    PairSample pair;
    pair.champion_ns = kStepNs * std::exp(plan_first ? second : first);
    pair.challenger_ns = kStepNs * std::exp(plan_first ? first : second);
    const double ratio = std::log(pair.champion_ns / pair.challenger_ns), scale = ring.scale();
    ring.Push(race.counted() < 3 ? ratio : ratio - race.RecentEstimate());
    if (race.ended()) {
      after += 2;
      guard.Add(ratio, scale, kWin);
      run.found = guard.Vetoes(kWin);
    }
    race.Add(pair, scale);
    run.vetoed = race.vetoed();
    if (!run.accepted && race.outcome() == RaceOutcome::kWon) guard = race.tail();
    run.accepted = race.outcome() == RaceOutcome::kWon;
  }
  return run;
}

void PutPaired(Row& row, const std::vector<PairedRun>& runs) {
  uint64_t accepted = 0, vetoed = 0, found = 0;
  for (const PairedRun& run : runs) {
    accepted += run.accepted;
    vetoed += run.vetoed;
    found += run.found;
  }
  Put(row, "race_won_rate", RateOf(accepted, runs.size()));
  Put(row, "race_vetoed_rate", RateOf(vetoed, runs.size()));
  Put(row, "found_in_pairs", RateOf(found, accepted));
}

std::vector<Row> RunTails(const Request& request) {
  std::vector<Row> rows;
  const std::vector<double> shares = {0, 0.005, 0.01, 0.02, 0.05};
  Workers workers(request, 2 * shares.size() * request.runs);
  for (double share : shares) {
    const auto runs = workers.Each<TailsRun>(
        request.runs, [&](uint64_t i) { return RunOne(share, SeedOf(request.seed, i)); });
    const auto paired = workers.Each<PairedRun>(
        request.runs, [&](uint64_t i) { return RunPaired(share, SeedOf(request.seed, i)); });
    uint64_t settled = 0, vetoed = 0, demoted = 0;
    for (const TailsRun& run : runs) {
      settled += run.settled;
      vetoed += run.vetoed;
      demoted += run.demoted;
    }
    Row row = {{"tail_share", share}, {"mean_change", std::exp(-kWin) * (1 + 2 * share) - 1}};
    Put(row, "settled_rate", RateOf(settled, request.runs));
    Put(row, "vetoed_rate", RateOf(vetoed, request.runs));
    Put(row, "demoted_rate", RateOf(demoted, settled));
    PutPaired(row, paired);
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
           {"vetoed_rate", "share of runs in which its rare slow steps ended a race"},
           {"demoted_rate", "share of the settled ones demoted within 20,000 steps of service"},
           {"race_won_rate", "share of single races, without a search, that it wins"},
           {"race_vetoed_rate", "share of them that its rare slow steps end"},
           {"found_in_pairs", "share of those won whose pairs show it within 4,000 steps after"}},
          {{"settled_rate", Sense::kAtLeast, 0.5, {{"tail_share", 0.0}}, false},
           {"settled_rate", Sense::kAtMost, 0.25, {{"tail_share", 0.05}}, false},
           {"found_in_pairs", Sense::kAtLeast, 0.5, {{"tail_share", 0.01}}, false},
           {"found_in_pairs", Sense::kAtLeast, 0.95, {{"tail_share", 0.02}}, false}}};
}

}  // namespace blazed::sim
