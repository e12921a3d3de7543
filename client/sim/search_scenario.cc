// Whole tunings of drawn workloads: with winners, and without any.
#include "client/sim/scenario_list.h"
#include "client/sim/whole_tunings.h"
#include "client/sim/workers.h"

namespace blazed::sim {
namespace {

const std::vector<uint32_t> kSizes = {5, 12, 34, 134};

double EventsOf(const std::vector<SearchRun>& runs) {
  double sum = 0;
  for (const SearchRun& run : runs) sum += static_cast<double>(run.events);
  return sum;
}

std::vector<double> BuildsOf(const std::vector<SearchRun>& runs) {
  std::vector<double> builds;
  for (const SearchRun& run : runs) builds.push_back(static_cast<double>(run.builds));
  return builds;
}

// For each size of space: `request.runs` whole tunings, then the row that `show` makes of them.
template <typename Show>
std::vector<Row> RowsOf(const Request& request, bool winners, const Show& show) {
  std::vector<Row> rows;
  const auto sizes = SizesOf(request, kSizes);
  Workers workers(request, sizes.size() * request.runs);
  for (uint32_t boundaries : sizes) {
    TableSettings settings = TableOf(boundaries);
    settings.winners = winners;
    rows.push_back(show(boundaries, workers.Each<SearchRun>(request.runs, [&](uint64_t i) {
      const uint64_t seed = SeedOf(request.seed, i);
      return RunSearch(CostTable(settings, seed), {}, seed);
    })));
  }
  return rows;
}

// A forecast is made for whatever workload comes, so its bar is of all of them together; how the
// sizes differ stands in their rows.
Row OfAllSizes(const std::vector<SearchRun>& runs) {
  Row row = {{"boundaries", std::string("all sizes")}, {"method", std::string("ours")}};
  Put(row, "forecast_hits_in_all", ForecastHits(runs));
  return row;
}

std::vector<Row> RunAll(const Request& request) {
  std::vector<SearchRun> all;
  const auto show = [&](uint32_t boundaries, const std::vector<SearchRun>& runs) {
    all.insert(all.end(), runs.begin(), runs.end());
    Row row = {{"boundaries", uint64_t{boundaries}}, {"method", std::string("ours")}};
    Put(row, "steps", MedianOf(Values(runs, &SearchRun::steps)));
    Put(row, "builds", MedianOf(BuildsOf(runs)));
    Put(row, "regret", MeanOf(Values(runs, &SearchRun::regret), request.seed));
    Put(row, "loss", MeanOf(Values(runs, &SearchRun::loss), request.seed));
    Put(row, "capture", Capture(runs, request.seed));
    Put(row, "worse", RateOf(Count(runs, &SearchRun::worse), request.runs));
    Put(row, "false_accept_rate", FalseAccepts(runs, request.seed));
    Put(row, "forecast_hits", ForecastHits(runs));
    Put(row, "ended", RateOf(Count(runs, &SearchRun::ended), request.runs));
    row.push_back({"events", EventsOf(runs)});
    return row;
  };
  std::vector<Row> rows = RowsOf(request, true, show);
  rows.push_back(OfAllSizes(all));
  return rows;
}

std::vector<Row> RunNulls(const Request& request) {
  return RowsOf(request, false, [&](uint32_t boundaries, const std::vector<SearchRun>& runs) {
    uint64_t accepts = 0;
    for (const SearchRun& run : runs) accepts += run.accepts;
    const uint64_t settled = Count(runs, &SearchRun::settled);
    Row row = {{"boundaries", uint64_t{boundaries}}};
    Put(row, "settled_rate", RateOf(settled, request.runs));
    Put(row, "steps", MedianOf(Values(runs, &SearchRun::steps)));
    Put(row, "loss", MeanOf(Values(runs, &SearchRun::loss), request.seed));
    row.push_back({"settlements", settled});
    row.push_back({"search_accepts", accepts});
    return row;
  });
}

}  // namespace

Scenario SearchScenario() {
  return {
      "search",
      "whole tunings of drawn workloads, 5 to 134 boundaries",
      100,
      RunAll,
      {{"steps", "until the search ended, median"},
       {"builds", "plans built, median"},
       {"regret",
        "steps of the default that the best plan would have saved within 20,000 "
        "steps, and that were not saved; mean"},
       {"loss", "steps of the default lost on plans slower than it while searching, mean"},
       {"capture", "saving of the plan in use at the end, of what the best plan saves"},
       {"worse", "share of runs whose plan in use is slower than the default"},
       {"false_accept_rate", "share of won search races whose plan is not faster"},
       {"forecast_hits", "share of runs whose window is within a factor of two of its forecast"},
       {"forecast_hits_in_all", "the same, over the workloads of all sizes"},
       {"ended", "share of runs that ended within 200,000 steps"},
       {"events", "that the planner applied, all runs together"}},
      {{"capture", Sense::kAtLeast, 0.85, {{"boundaries", uint64_t{34}}}, false},
       {"regret", Sense::kAtMost, 200, {{"boundaries", uint64_t{34}}}, false},
       {"capture", Sense::kAtLeast, 0.80, {{"boundaries", uint64_t{134}}}, false},
       {"worse", Sense::kAtMost, 0.01, {}, false},
       {"false_accept_rate", Sense::kAtMost, 0.01, {}, false},
       {"forecast_hits_in_all", Sense::kAtLeast, 0.8, {}, false}}};
}

Scenario NullScenario() {
  return {"null",
          "whole tunings where nothing is faster",
          200,
          RunNulls,
          {{"settled_rate", "share of runs that settle a winner"},
           {"steps", "until the search ended, median"},
           {"loss", "steps of the default lost on slower plans, mean"},
           {"settlements", "of a winner, all runs together: each is wrong"},
           {"search_accepts", "won search races, all runs together: each is wrong"}},
          {{"settlements", Sense::kAtMost, 0, {}, false},
           {"search_accepts", Sense::kAtMost, 0, {}, false}}};
}

}  // namespace blazed::sim
