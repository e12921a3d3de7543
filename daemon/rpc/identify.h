// Whose call this is, and whether it speaks our protocol at all.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

#include "absl/status/statusor.h"
#include "daemon/rpc/caller.h"
#include "daemon/rpc/identity_table.h"
#include "daemon/session/peer.h"

namespace blazed::rpc {

// Metadata that every call must carry; no browser and no other protocol can send it by accident.
inline constexpr char kProtocolKey[] = "blazed-protocol";
inline constexpr char kProtocolVersion[] = "1";

// INVALID_ARGUMENT without the metadata, FAILED_PRECONDITION for another protocol version,
// UNAUTHENTICATED for a connection that this daemon did not accept itself.
absl::StatusOr<session::Peer> Identify(const grpc::CallbackServerContext& context,
                                       IdentityTable& identities);

// `root_here`: PrincipalHere(0). Root of the daemon's own container is root of all that the daemon
// serves; root of another one is an ordinary user.
bool IsRoot(const session::Peer& peer, const std::string& root_here);

// Identify for services that see only a Caller. `identities` outlives the answer.
CallerOf MakeCallerOf(IdentityTable& identities, std::string root_here);

}  // namespace blazed::rpc
