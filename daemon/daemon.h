// The daemon put together: what owns what, in which order it starts and stops.
//
// Start: log, store (its lock decides who is the daemon), sockets, writer, servers, listeners,
// READY. Stop: health says NOT_SERVING, nothing is accepted, leases end, streams end, servers shut
// down within their patience, the strand stops, the store is flushed.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/config/config.h"
#include "daemon/flags.h"

namespace blazed {

// Used by the main thread.
class Daemon {
 public:
  Daemon(Flags flags, Config config);
  ~Daemon();

  // INVALID_ARGUMENT for a place that can never work; any other error for one that is taken or not
  // ours.
  absl::Status Start();

  // Serves until SIGTERM, SIGINT or Admin.Drain (OK), or until a part fails.
  absl::Status Run();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace blazed
