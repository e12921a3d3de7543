// What a daemon says to a connection that it does not take. gRPC keeps it from its callers.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace blazed::blazectl {

// Reads the first words on a connected socket. RESOURCE_EXHAUSTED with the daemon's sentence where
// it refuses the connection, UNAVAILABLE where it closes it without one, OK where it serves or says
// nothing within `patience`.
absl::Status ReadRefusal(int socket, absl::Duration patience);

}  // namespace blazed::blazectl
