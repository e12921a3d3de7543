// Where the daemon's socket is: the flag, BLAZED_SOCKET, /run/blazed/blazed.sock,
// $XDG_RUNTIME_DIR/blazed/blazed.sock.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace blazed::blazectl {

// The world that the search looks at; tests bring their own.
struct Surroundings {
  std::function<std::optional<std::string>(const char*)> environment;
  std::function<bool(const std::string&)> exists;
};

Surroundings RealSurroundings();

// A path of at most 107 bytes, what a Unix socket's address holds. INVALID_ARGUMENT for a longer
// one or another scheme than unix:, UNAVAILABLE where the search found none.
absl::StatusOr<std::string> FindSocket(const std::string& flag, const Surroundings& surroundings);

}  // namespace blazed::blazectl
