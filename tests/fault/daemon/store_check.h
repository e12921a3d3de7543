// What lies on the disk after a kill, before any daemon has touched it again.
#pragma once

#include <string>
#include <vector>

#include "blazed/v1/history.pb.h"

namespace blazed::fault {

struct StoreFinding {
  std::vector<v1::SettlementRow> settlements;
  std::vector<std::string> faults;  // one sentence each
};

// Copies the state folder to `scratch`, opens the copy as the daemon would and looks through it:
// the product's own checks on the way, SQLite's full ones after. `state` must be in nobody's use.
StoreFinding CheckStore(const std::string& state, const std::string& scratch);

}  // namespace blazed::fault
