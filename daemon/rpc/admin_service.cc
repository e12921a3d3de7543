#include "daemon/rpc/admin_service.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/rpc/identify.h"
#include "daemon/rpc/status_map.h"

namespace blazed::rpc {
namespace {

constexpr uint64_t kLongestDrainNs = 600'000'000'000;
constexpr absl::Duration kStandardDrain = absl::Seconds(2);

// The socket's mode keeps others out; this holds also where somebody opened it wider.
absl::Status CheckOperator(const session::Peer& peer) {
  if (peer.uid == 0 || peer.uid == geteuid()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("user ", peer.uid, " is no operator; call as root or as the daemon's user"));
}

}  // namespace

AdminService::AdminService(IdentityTable& identities, DrainVerb drain)
    : identities_(identities), drain_(std::move(drain)) {}

grpc::ServerUnaryReactor* AdminService::Drain(grpc::CallbackServerContext* context,
                                              const v1::DrainRequest* request,
                                              v1::DrainReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<session::Peer> peer = Identify(*context, identities_);
  absl::Status status = peer.ok() ? CheckOperator(*peer) : peer.status();
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
