#include "daemon/rpc/identify.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace blazed::rpc {

absl::StatusOr<session::Peer> Identify(const grpc::CallbackServerContext& context,
                                       IdentityTable& identities) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kProtocolKey);
  if (found == metadata.end()) {
    return absl::InvalidArgumentError(absl::StrCat("the call has no metadata ", kProtocolKey,
                                                   "; send ", kProtocolKey, ": ",
                                                   kProtocolVersion));
  }
  if (metadata.count(kProtocolKey) > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the call has the metadata ", kProtocolKey, " twice; send it once"));
  }
  if (found->second != kProtocolVersion) {
    return absl::FailedPreconditionError(absl::StrCat("this daemon speaks ", kProtocolKey, ": ",
                                                      kProtocolVersion,
                                                      "; use a client of the same version"));
  }
  std::optional<session::Peer> peer = identities.Find(context.peer());
  if (!peer) {
    return absl::UnauthenticatedError(
        "the kernel does not say whose connection this is; connect again");
  }
  return *std::move(peer);
}

bool IsRoot(const session::Peer& peer, const std::string& root_here) {
  if (peer.principal == session::kRootOfTheMachine) return true;
  return peer.uid == 0 && !root_here.empty() && peer.principal == root_here;
}

CallerOf MakeCallerOf(IdentityTable& identities, std::string root_here) {
  return [&identities, root_here = std::move(root_here)](
             grpc::CallbackServerContext* context) -> absl::StatusOr<Caller> {
    absl::StatusOr<session::Peer> peer = Identify(*context, identities);
    if (!peer.ok()) return peer.status();
    return Caller{peer->uid, peer->pid, peer->principal, IsRoot(*peer, root_here)};
  };
}

}  // namespace blazed::rpc
