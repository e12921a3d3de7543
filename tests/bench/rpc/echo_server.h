// A bare gRPC callback server in a process of its own, so that it has the daemon's conditions.
#pragma once

#include <string>

namespace blazed::bench {

// Serves until killed. Returns only on failure.
int ServeEcho(const std::string& socket);

}  // namespace blazed::bench
