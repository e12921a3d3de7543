// Admin: operators' verbs. Served by a server of its own on the operators' socket, never on the
// shims'.
#pragma once

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "blazed/v1/admin.grpc.pb.h"
#include "daemon/rpc/identity_table.h"

namespace blazed::rpc {

// OK for root of the machine and for `own`, the principal that the daemon itself runs as; empty:
// root alone. A user number is not enough: root of a container is an ordinary user, and so is who
// has the daemon's number in one. The socket's mode keeps others out; this holds also where
// somebody opened it wider. PERMISSION_DENIED.
absl::Status CheckOperator(const session::Peer& peer, const std::string& own);

class AdminService final : public v1::Admin::CallbackService {
 public:
  // Starts an orderly stop that gives calls in flight this long; answers with the sessions
  // attached. Any thread.
  using DrainVerb =
      std::function<void(absl::Duration patience, std::function<void(size_t)> answer)>;

  AdminService(IdentityTable& identities, std::string own, DrainVerb drain);

  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const v1::DrainRequest* request, v1::DrainReply* reply) override;

 private:
  IdentityTable& identities_;
  const std::string own_;
  const DrainVerb drain_;
};

}  // namespace blazed::rpc
