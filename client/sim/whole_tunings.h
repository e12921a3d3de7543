// What scenarios of whole tunings share: drawn workloads and what became of one.
#pragma once

#include <cstdint>
#include <vector>

#include "client/sim/host.h"
#include "client/sim/scenarios.h"

namespace blazed::sim {

inline constexpr uint64_t kLongestSteps = 200000;  // of a tuning
inline constexpr double kHorizon = 20000;          // steps over which regret is counted

// The workloads of the reference simulation: four choices of three options from 34 boundaries on.
TableSettings TableOf(uint32_t boundaries);

// The sizes asked for, else `own`.
std::vector<uint32_t> SizesOf(const Request& request, std::vector<uint32_t> own);

// How one search went, counted in steps of the default plan.
struct SearchRun {
  double steps = 0;          // until it ended
  double loss = 0;           // slower than the default while searching
  double regret = 0;         // against the best plan over the horizon, search included
  double got = 0, best = 0;  // saving of the plan in use and of the best one; 0 where none is
  uint64_t builds = 0, events = 0;
  uint64_t accepts = 0, false_accepts = 0;  // of search races
  bool ended = false;                       // within kLongestSteps
  bool worse = false;                       // the plan in use is slower than the default
  bool settled = false;                     // a winner, in the store
  double forecast_ratio = 0;  // window that happened over the forecast's; 0: nothing to compare
};

// Of a host whose exploring has ended. `oracle`: log cost of the best plan.
SearchRun Summarise(const Host& host, const CostTable& table, planner::SessionId session,
                    double oracle);

// Attaches a process, runs it to its end, and summarises.
SearchRun RunSearch(const CostTable& table, const HostSettings& settings, uint64_t seed);

// Sums over runs, for rows.
std::vector<double> Values(const std::vector<SearchRun>& runs, double SearchRun::*field);
uint64_t Count(const std::vector<SearchRun>& runs, bool SearchRun::*field);
Estimate Capture(const std::vector<SearchRun>& runs, uint64_t seed);
Estimate ForecastHits(const std::vector<SearchRun>& runs);  // within a factor of two
// Of won search races, those whose plan is not faster.
Estimate FalseAccepts(const std::vector<SearchRun>& runs, uint64_t seed);

}  // namespace blazed::sim
