// What a measurement is valid for: what the shim says about its framework and what the daemon sees
// of the machine.
#pragma once

#include <map>
#include <string>

#include "storage/records.h"

namespace blazed::session {

// Keys that the daemon fills in; a shim that sends one of them is overruled.
inline constexpr char kMachinePrefix[] = "machine.";

// The shim's fields, the machine's under the prefix, and the fingerprint over both (XXH3-128 of the
// sorted length-prefixed fields, stable across machines and versions).
storage::EnvironmentRow MakeEnvironment(const std::map<std::string, std::string>& from_shim,
                                        const std::map<std::string, std::string>& from_machine);

}  // namespace blazed::session
