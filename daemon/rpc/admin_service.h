// Admin: operators' verbs. Served by a server of its own on the operators' socket, never on the
// shims'.
#pragma once

#include <functional>

#include "absl/time/time.h"
#include "blazed/v1/admin.grpc.pb.h"
#include "daemon/rpc/identity_table.h"

namespace blazed::rpc {

class AdminService final : public v1::Admin::CallbackService {
 public:
  // Starts an orderly stop that gives calls in flight this long; answers with the sessions
  // attached. Any thread.
  using DrainVerb =
      std::function<void(absl::Duration patience, std::function<void(size_t)> answer)>;

  AdminService(IdentityTable& identities, DrainVerb drain);

  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const v1::DrainRequest* request, v1::DrainReply* reply) override;

 private:
  IdentityTable& identities_;
  const DrainVerb drain_;
};

}  // namespace blazed::rpc
