// A tuning that has a session. Private to Tunings.
#pragma once

#include <map>
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
};

}  // namespace blazed::session
