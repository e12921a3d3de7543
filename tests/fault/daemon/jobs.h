// The synthetic jobs of the kill test. What a job is follows from its name alone, so that the same
// workload can be met again after any number of daemons.
#pragma once

#include <string>

#include "tests/fakes/scripted_shim.h"
#include "tests/fakes/synthetic_host.h"

namespace blazed::fault {

struct Job {
  std::string workload;
  std::string device = "cpu";  // jobs of one device take turns at exploring
  auto operator<=>(const Job&) const = default;
};

// A host of two to four decisions; about one in four has nothing to win.
fakes::SyntheticHost HostOf(const std::string& workload);

// Says in Hello what device it is and that this is a condition; does not wait for a daemon.
void Prepare(const Job& job, fakes::ScriptedShim* shim);

// Configuration of a daemon that settles such jobs quickly.
std::string QuickSettlingConfig(const std::string& device_lock_folder);

}  // namespace blazed::fault
