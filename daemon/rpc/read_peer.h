// Reads the identity of a connection's other end from the kernel (SO_PEERCRED, a pidfd, /proc).
#pragma once

#include "absl/status/statusor.h"
#include "daemon/session/peer.h"

namespace blazed::rpc {

// UNAVAILABLE where the socket has no credentials: close it. A process that ended meanwhile is no
// error here; its pidfd is null or readable at once. Where the kernel does not say in which
// container the process lives, because it ended or lives in a PID namespace that this daemon does
// not see, the principal is "uid:N unplaced", which has no rights but its own. Any thread.
absl::StatusOr<session::Peer> ReadPeer(int socket);

// "uid:1000" or "uid:1000 container:ID"; one container inside another is "OUTER/INNER".
std::string PrincipalOf(uint32_t uid, std::string_view container);

// The principal of a user in the place where this daemon runs: on the machine, or in the daemon's
// own container. Empty where the kernel does not say where that is: then nobody is.
std::string PrincipalHere(uint32_t uid);
// That of the daemon's user.
std::string OwnPrincipal();

}  // namespace blazed::rpc
