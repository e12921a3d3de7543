// How long a training process is without its daemon after that one came back.
#pragma once

#include <string>
#include <vector>

namespace blazed::bench {

enum class Ending { kKilled, kStopped };

// Restarts the daemon `restarts` times under a host of 1 ms steps and gives for each the time from
// the moment somebody listens on the socket to the step at which the shim says attached, in ms.
// `folder` is empty. Fails where the shim never comes back.
std::vector<double> ReattachTimes(const std::string& folder, Ending ending, int restarts);

}  // namespace blazed::bench
