#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace blazed::trainer {

// Keeps the order of keys, so that a report reads top down.
using Json = nlohmann::ordered_json;

// One candidate plan and what became of it.
struct Candidate {
  std::string plan;  // "default", or the non-default options by name
  std::string signature;
  std::string verdict;
  std::string reason;
  int64_t pairs = 0;
};

struct Gain {
  double estimate = 0;  // fraction of the default's step time saved
  double low = 0;
  double high = 0;
};

// All pairs of a job by what they were for; their sum is search and replication pairs together.
struct PairUses {
  int64_t noise = 0;
  int64_t proposals = 0;
  int64_t search_races = 0;
  int64_t verification_races = 0;
  int64_t replication_races = 0;
  int64_t sham_races = 0;
  int64_t late = 0;
};

struct ForecastReport {
  double window_s = 0;
  int64_t builds = 0;
  double regret_s = 0;
  double resolvable = 0;  // fraction of a step
  std::string based_on;
};

// One element of a report's `jobs`, as the text report needs it. docs/report.md names every field.
struct JobReport {
  std::string role;
  std::string outcome;
  std::string settlement;
  bool served = false;  // found by another job
  std::string reason;
  std::vector<std::string> plan;  // empty: the default plan
  double default_step_ns = 0;     // 0: not measured
  double settled_step_ns = 0;
  std::optional<Gain> gain;
  std::string equivalence;
  int64_t boundaries = 0;
  int64_t decisions = 0;
  int64_t search_pairs = 0;
  int64_t replication_pairs = 0;
  std::optional<PairUses> pairs_by_use;
  int64_t builds = 0;
  int64_t probes = 0;
  int64_t races = 0;
  int64_t dwells = 0, drift_checks = 0;  // in the list of races as well, and not among `races`
  double window_s = 0;
  double regret_s = 0;
  double build_s = 0;
  double probe_s = 0;
  double drain_s = 0;
  double budget_spent_s = 0, budget_allowed_s = 0;  // both 0: not known
  std::optional<ForecastReport> forecast;
  std::optional<double> break_even_steps;
  std::vector<Candidate> plans;
  // Added by the trainer about its own run.
  int64_t steps = 0;
  double first_loss = 0;
  double last_loss = 0;
  double wall_s = 0;
  double median_step_ns = 0;  // of the steps outside trials, at the end of the run
  std::string stopped;        // steps, settled, undecided, seconds, signal
  std::string shim_state;
  std::string shim_reason;
};

// Reads one element of `jobs`. Absent or oddly typed fields keep their default: a report from
// another version is shown as far as it is understood.
JobReport ReadJob(const Json& job);

// A plan as one line: its entries joined by ", ", or "default".
std::string PlanLine(const Json& plan);

// INVALID_ARGUMENT with the first field that breaks the schema (DESIGN.md section 10), so that a
// program never publishes a report others cannot read.
absl::Status CheckReport(const Json& report);

// Reads and checks a report file. NOT_FOUND, INVALID_ARGUMENT.
absl::StatusOr<Json> LoadReport(const std::string& path);

}  // namespace blazed::trainer
