// Which mode a session gets: what it asks for, less what policy, the device, the store and the
// job's size forbid.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "daemon/planner/types.h"
#include "daemon/session/messages.h"
#include "daemon/session/options.h"

namespace blazed::session {

struct Granted {
  planner::Mode mode = planner::Mode::kObserve;
  std::string reason;  // why less than asked; empty otherwise
};

// observe < pinned < tune, by how much may change.
int Rank(planner::Mode mode);

// `device`: whether this daemon owns the device; `store`: OK outside quarantine.
Granted Grant(const Hello& hello, const Options& options, const absl::Status& device,
              const absl::Status& store);

}  // namespace blazed::session
