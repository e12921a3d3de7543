// A plan as text. The canonical form "3:1,7:2" (decision:option, sorted) is what the store keys
// rows by; the readable form "ln.1|gemm.2=cut" needs the workload's decisions and is for people and
// reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/planner/types.h"

namespace blazed::storage {

std::string PlanToText(const planner::Plan& plan);

// DATA_LOSS for anything but a sorted list of non-default choices.
absl::StatusOr<planner::Plan> PlanFromText(std::string_view text);

// One "decision=option" a choice. A choice the workload does not know is written as its numbers.
std::vector<std::string> PlanNames(const planner::WorkloadSpec& workload,
                                   const planner::Plan& plan);

// The names joined by ", "; "default" for the default plan.
std::string PlanForPeople(const planner::WorkloadSpec& workload, const planner::Plan& plan);

}  // namespace blazed::storage
