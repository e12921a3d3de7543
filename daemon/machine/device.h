// What this machine is, as far as a measurement depends on it. Read once per session; any thread.
#pragma once

#include <map>
#include <string>

namespace blazed::machine {

// Fields for a device key. "cpu": model, number of usable cores, instruction sets. Any other key
// names a GPU, of which this build reads nothing by itself: the shim's fields stand alone there.
std::map<std::string, std::string> DescribeDevice(const std::string& device);

}  // namespace blazed::machine
