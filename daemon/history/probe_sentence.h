// What a plan's probes found, for people: how many numbers of how many, how far apart, and by what
// that was judged.
#pragma once

#include <string>

#include "daemon/planner/types.h"

namespace blazed::history {

// Empty where no probe of the plan compared anything. Pure.
std::string ProbeSentence(planner::Contract contract, const planner::PlanRecord& record);

}  // namespace blazed::history
