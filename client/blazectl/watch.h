// Follows the daemon's events across its restarts.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "blazed/v1/history.pb.h"
#include "client/blazectl/connection.h"

namespace blazed::blazectl {

struct WatchOrder {
  std::string path;  // the daemon's socket
  std::string workload;
  uint64_t after = 0;
  uint64_t events = 0;                     // end after this many, 0: never
  std::optional<absl::Duration> patience;  // without the daemon; nullopt: for ever
};

enum class Link { kLost, kBack };

// What became of an event: kLost ends the watch, and the caller knows why; kLeftOut is not counted.
enum class Sunk { kShown, kLeftOut, kLost };

struct WatchSinks {
  std::function<Sunk(const v1::WatchEvent&)> event;
  std::function<void(Link)> link;
};

// Blocks. After a lost stream it asks again behind the last event seen, so that none is missed or
// shown twice. Returns OK after the last event asked for, UNAVAILABLE when the patience is over,
// any other error of the daemon at once.
absl::Status Watch(const WatchOrder& order, const Connection& connection, const WatchSinks& sinks);

}  // namespace blazed::blazectl
