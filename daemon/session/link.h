// A session's way to its shim: one stream. Implemented by daemon/rpc; tests have a recording one.
#pragma once

#include "absl/status/status.h"
#include "daemon/session/messages.h"

namespace blazed::session {

// Thread-safe; never blocks and never calls back into the caller.
class Link {
 public:
  virtual ~Link() = default;
  // Queues a message. A reader so slow that the queue is full loses its stream with
  // RESOURCE_EXHAUSTED.
  virtual void Send(const Outbound& message) = 0;
  // Ends the stream with this status after what is queued. Later calls do nothing.
  virtual void End(absl::Status status) = 0;
};

}  // namespace blazed::session
