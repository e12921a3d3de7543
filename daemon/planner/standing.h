// What is said of a candidate on whom nothing was decided: how far it came. Written so that it
// holds while the search goes on and stays true where it ends there.
#pragma once

#include <string>

#include "daemon/planner/types.h"

namespace blazed::planner {

// One sentence; empty where the verdict is a decision, which carries a reason of its own.
std::string StandingOf(const PlanRecord& record);

}  // namespace blazed::planner
