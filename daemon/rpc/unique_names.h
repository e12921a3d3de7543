#pragma once

#include <vector>

#include "daemon/planner/types.h"

namespace blazed::rpc {

// People, tables and reports tell decisions apart by name, and hosts may name two alike. Each after
// the first of a name bears a number, "name #2"; a name stays within 96 bytes. The same list gives
// the same names.
void NumberEqualNames(std::vector<planner::DecisionSpec>* decisions);

}  // namespace blazed::rpc
