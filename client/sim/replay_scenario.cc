// Recorded step times in place of simulated ones, and recorded plan tables as spaces to search.
#include <algorithm>
#include <cmath>

#include "client/sim/recorded.h"
#include "client/sim/scenario_list.h"
#include "client/sim/single_race.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"
#include "daemon/planner/scale.h"

namespace blazed::sim {
namespace {

using namespace planner;  // races are set up as the planner sets them up

constexpr uint64_t kAaSteps = 2000;
constexpr uint64_t kMostPairs = 4000;
constexpr double kNever = 2 * kMostPairs;  // more steps than any race here has

using PairTimes = std::vector<std::pair<double, double>>;

// Neighbours within a group; each step is in one pair.
PairTimes PairsOf(const RecordedSteps& steps) {
  PairTimes pairs;
  for (const auto& group : steps.groups) {
    for (size_t i = 0; i + 1 < group.size(); i += 2) {
      pairs.push_back({std::log(group[i]), std::log(group[i + 1])});
    }
  }
  return pairs;
}

double ScaleOf(const PairTimes& pairs) {
  std::vector<double> sizes;
  for (const auto& [first, second] : pairs) sizes.push_back(std::fabs(second - first));
  return 1.4826 * Median(sizes);
}

struct Replayed {
  bool won = false;
  double steps = 0;
};

// From a pair drawn at random on, round and round. Pairs come again after a round, their coins do
// not.
Replayed ReplayOne(const PairTimes& pairs, const RaceTerms& terms, double gain, uint64_t seed) {
  Random random(seed);
  size_t at = random.Below(pairs.size());
  Race race(1, terms, {}, {{0, 1}}, Moment{});
  Replayed run;
  run.steps = static_cast<double>(DriveRace(race, gain, 2 * terms.max_pairs, seed, [&] {
    at = (at + 1) % pairs.size();
    return pairs[at];
  }));
  run.won = race.outcome() == RaceOutcome::kWon;
  return run;
}

Row RaceRow(const RecordedSteps& recorded, double gain, double delta0, const Request& request,
            Workers& workers) {
  const PairTimes pairs = PairsOf(recorded);
  const double beta = gain > 0 ? 0.1 : 1e-300;  // equal plans are never dropped
  Row row = {{"data", recorded.name}, {"win", gain}, {"delta0", delta0}};
  row.push_back({"recorded_pairs", uint64_t{pairs.size()}});
  row.push_back({"pair_scale", ScaleOf(pairs)});
  const auto put = [&](double alpha, const std::string& ending) {
    RaceTerms terms = TermsOf(delta0, beta, kAaSteps / 2, alpha);
    if (gain > 0) {
      terms.max_pairs = PairCap(alpha, delta0, terms.delta1, ScaleOf(pairs), kMostPairs);
    }
    const auto runs = workers.Each<Replayed>(request.runs, [&](uint64_t i) {
      return ReplayOne(pairs, terms, gain, SeedOf(request.seed, i));
    });
    std::vector<double> steps;
    uint64_t won = 0;
    for (const Replayed& run : runs) {
      won += run.won;
      steps.push_back(run.won ? run.steps : kNever);
    }
    Put(row, "accepted" + ending, RateOf(won, request.runs));
    Put(row, "median_steps" + ending, MedianOf(steps));
  };
  put(kBarAlpha, "");
  put(OwnAlpha(), "_own");
  return row;
}

// The tables are few and a build of theirs takes seconds: a tenth of the runs says enough.
uint64_t TableRuns(const Request& request) { return std::max<uint64_t>(1, request.runs / 10); }

Row TableRow(const RecordedPlans& recorded, const Request& request, Workers& workers) {
  HostSettings settings;
  settings.step_ns = recorded.default_step_ns;
  settings.build_steps = recorded.build_ns / recorded.default_step_ns;
  const auto runs = workers.Each<SearchRun>(TableRuns(request), [&](uint64_t i) {
    return RunSearch(recorded.table, settings, SeedOf(request.seed, i));
  });
  std::vector<double> builds;
  for (const SearchRun& run : runs) builds.push_back(static_cast<double>(run.builds));
  Row row = {{"data", recorded.name}, {"oracle_saving", runs.front().best}};
  Put(row, "capture", Capture(runs, request.seed));
  Put(row, "builds", MedianOf(builds));
  Put(row, "settled", RateOf(Count(runs, &SearchRun::settled), runs.size()));
  Put(row, "worse", RateOf(Count(runs, &SearchRun::worse), runs.size()));
  Put(row, "forecast_hits", ForecastHits(runs));
  return row;
}

std::vector<Row> RunReplay(const Request& request) {
  const auto steps = ReadRecordedSteps();
  const auto plans = ReadRecordedPlans();
  std::vector<Row> rows;
  Workers workers(request, 6 * steps.size() * request.runs + plans.size() * TableRuns(request));
  for (const auto& [gain, delta0] :
       {std::pair(0.0, 0.0), std::pair(0.0, 0.0025), std::pair(0.01, 0.0025)}) {
    for (const RecordedSteps& recorded : steps) {
      rows.push_back(RaceRow(recorded, gain, delta0, request, workers));
    }
  }
  for (const RecordedPlans& recorded : plans) rows.push_back(TableRow(recorded, request, workers));
  return rows;
}

const Value kQuietAttention = std::string("attn257_quiet"),
            kQuietMlp = std::string("mlp1025_quiet");

}  // namespace

Scenario ReplayScenario() {
  return {
      "replay",
      "recorded steps of one H200 in place of simulated noise, and recorded plan tables",
      500,
      RunReplay,
      {{"win", "saving that is put into the challenger's step of each recorded pair"},
       {"delta0", "the gain that a win has to exceed"},
       {"recorded_pairs", "neighbouring steps that there are"},
       {"pair_scale", "robust spread of their log ratio"},
       {"accepted",
        "share of races that accept, at an error share of 0.05, which the bars are of; at a win of "
        "0 each of them is wrong"},
       {"median_steps", "steps until they do, median; a race that does not counts as 8,000"},
       {"accepted_own", "share at the 0.025 that the planner gives its own first search race"},
       {"median_steps_own", "and the steps until then"},
       {"oracle_saving", "of the best recorded plan, launched as the better of loop and graph"},
       {"capture", "saving of the plan in use at the end, of what the best plan saves"},
       {"builds", "plans built, median; each takes the median of the recorded builds"},
       {"settled", "share of runs that settle a winner"},
       {"worse", "share of runs whose plan in use is slower than the default"},
       {"forecast_hits", "share of runs whose window is within a factor of two of its forecast"}},
      {{"accepted", Sense::kAtMost, 0.05, {{"win", 0.0}, {"delta0", 0.0}}, true},
       {"accepted", Sense::kAtMost, 0.05, {{"win", 0.0}, {"delta0", 0.0025}}, true},
       {"median_steps", Sense::kAtMost, 600, {{"win", 0.01}, {"data", kQuietAttention}}, false},
       {"median_steps", Sense::kAtMost, 70, {{"win", 0.01}, {"data", kQuietMlp}}, false},
       {"accepted", Sense::kAtLeast, 0.5, {{"win", 0.01}, {"data", kQuietAttention}}, false},
       {"accepted", Sense::kAtLeast, 0.97, {{"win", 0.01}, {"data", kQuietMlp}}, false}}};
}

}  // namespace blazed::sim
