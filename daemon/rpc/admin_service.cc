#include "daemon/rpc/admin_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/rpc/identify.h"
#include "daemon/rpc/status_map.h"

namespace blazed::rpc {
namespace {

constexpr uint64_t kLongestDrainNs = 600'000'000'000;
constexpr absl::Duration kStandardDrain = absl::Seconds(2);

}  // namespace

absl::Status CheckOperator(const session::Peer& peer, const std::string& own) {
  if (peer.principal == session::kRootOfTheMachine) return absl::OkStatus();
  if (!own.empty() && peer.principal == own) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("the caller (", peer.principal,
                   ") is no operator; call as root of the machine or as the daemon's user, from "
                   "outside any container that the daemon is not in"));
}

AdminService::AdminService(IdentityTable& identities, std::string own, DrainVerb drain)
    : identities_(identities), own_(std::move(own)), drain_(std::move(drain)) {}

grpc::ServerUnaryReactor* AdminService::Drain(grpc::CallbackServerContext* context,
                                              const v1::DrainRequest* request,
                                              v1::DrainReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<session::Peer> peer = Identify(*context, identities_);
  absl::Status status = peer.ok() ? CheckOperator(*peer, own_) : peer.status();
  if (!status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  const absl::Duration patience =
      request->deadline_ns() == 0
          ? kStandardDrain
          : absl::Nanoseconds(std::min(request->deadline_ns(), kLongestDrainNs));
  drain_(patience, [reactor, reply](size_t sessions) {
    reply->set_sessions(static_cast<uint32_t>(sessions));
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

}  // namespace blazed::rpc
