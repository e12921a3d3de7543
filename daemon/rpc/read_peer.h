// Reads the identity of a connection's other end from the kernel (SO_PEERCRED, a pidfd, /proc).
#pragma once

#include "absl/status/statusor.h"
#include "daemon/session/peer.h"

namespace blazed::rpc {

// UNAVAILABLE where the socket has no credentials: close it. A process that ended meanwhile is no
// error here; its pidfd is null or readable at once. Any thread.
absl::StatusOr<session::Peer> ReadPeer(int socket);

// "uid:1000" or "uid:1000 container:ID".
std::string PrincipalOf(uint32_t uid, std::string_view container);

}  // namespace blazed::rpc
