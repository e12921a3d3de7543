// A tuning that has a session. Private to Tunings.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "daemon/session/tunings.h"

namespace blazed::session {

struct Tunings::Live {
  storage::TuningId id = 0;
  storage::TuningKey key;
  storage::WorkloadRow workload;
  planner::Tuning tuning;
  std::map<planner::SessionId, Member> members;
  std::vector<planner::DirectiveHeld> held;  // the planner is still to hear of it
  std::set<planner::Plan> with_kernels;      // what they run is stored
};

}  // namespace blazed::session
