// How to search: constants by the size of the space, the measured noise and what a variant costs
// here. Sources and the tables behind the numbers: docs/measurement.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/planner/surrogate.h"
#include "daemon/planner/tuning.h"

namespace blazed::planner {

// What this process measured before its first trial.
struct Surroundings {
  size_t toggles = 0;
  double scale = 0.015;   // of a pair's log ratio
  double step_ns = 0;     // median step of the default
  double unit_steps = 1;  // that one unit of a pair runs
  double build_ns = 0;    // median cost of a build
  double probe_ns = 0;    // median cost of one variant's probes
  double window_ns = 0;   // wall time left for the whole tuning
  // What the job's own limits leave a search; negative: no such limit. The forecast alone reads it.
  double job_ns = -1;
  double job_steps = -1;
  double budget_ns = -1;  // what exploring may cost at once
};

struct SearchProfile {
  // `fine`, `standard`, `few-plans` or `few-builds`, as the forecast names it.
  std::string_view name = "standard";
  SurrogatePrior prior;
  double delta0 = 0.0025, delta1 = 0.0075;  // of search races; delta1 is also what can be resolved
  uint32_t pairs_per_proposal = 2;
  uint32_t flips = 12;         // most flips of one proposal
  double slowdown_cap = 0.03;  // predicted by the mean, of one proposal
  uint32_t batch = 4;          // proposals that share the default's probe reference
  double race_z = 0.8;         // open a race beyond this many posterior sd
  double stop_gain = 0.001;    // expected improvement left, summed over single flips
  double stop_delta = 0.0025;  // gains of a single option below it are not looked for
  bool too_noisy =
      false;            // what can be resolved is too coarse for "nothing is faster" to mean much
  uint32_t quiet = 60;  // proposals in a row equal to the champion
  uint32_t patience = 150;   // turns without an accepted plan
  uint32_t most_builds = 0;  // by the configuration, whatever they cost; 0: no limit
  // Of one process, the rebuild of a champion included; 0: no limit. With a limit each build is
  // chosen by what it is expected to bring (prospect.h) and has to pay for itself.
  uint32_t max_builds = 0;
  uint32_t listed = 0;  // plans that a search without a model goes through, about; 0: none such
  bool operator==(const SearchProfile&) const = default;
};

SearchProfile ChooseProfile(const Surroundings& here, const TuningConfig& config);

}  // namespace blazed::planner
