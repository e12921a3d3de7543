// "Why this plan, why not that one", in sentences. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/kernels.h"
#include "storage/records.h"
#include "storage/store.h"

namespace blazed::history {

// Everything of one tuning that an answer draws on.
struct Evidence {
  planner::WorkloadSpec workload;
  storage::TuningKey key;
  std::optional<storage::StoredSettlement> settlement;  // newest, whatever its state
  std::optional<planner::DriftTimer> drift;
  std::vector<storage::StoredPlan> plans;
  std::vector<storage::StoredRace> races;
  std::string last_end;  // why the latest search that raced ended; empty: settled, or not known
  std::optional<storage::StoredKernels> kernels;  // of the plan that the answer is about
};

// The plan asked about, or what is in force where `asked` is null.
std::vector<std::string> Explain(const Evidence& evidence, const storage::StoredPlan* asked);

// Winner first, then the most telling verdicts.
void SortForPeople(std::vector<storage::StoredPlan>& plans);

// "1.25 ms", "3.1 %".
std::string TimeText(double ns);
std::string ShareText(double fraction);
// "3.1 % to 4.2 %", "at least 3.1 %", "at most 4.2 %": an open end has no number.
std::string RangeText(const planner::Interval& saving);

}  // namespace blazed::history
