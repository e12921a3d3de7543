// Tuner: the shim's protocol. Handlers validate, identify, limit, hand on to the strand and
// convert; they decide nothing and never block.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "blazed/v1/tuner.grpc.pb.h"
#include "daemon/rpc/identity_table.h"
#include "daemon/rpc/options.h"
#include "daemon/session/loop.h"
#include "daemon/session/session_table.h"

namespace blazed::rpc {

class TunerService final : public v1::Tuner::CallbackService {
 public:
  // Builds the report of a session when everything about it is written. `latest` is what was last
  // said of a session that is attached. On the strand; answers on any thread.
  using Report = std::function<void(planner::SessionId, const planner::ReportProgress& latest,
                                    std::function<void(absl::StatusOr<std::string>)>)>;

  // All outlive the server that this is registered with. `sessions` is used on the strand only.
  TunerService(session::Loop& loop, session::SessionTable& sessions, IdentityTable& identities,
               Report report, Options options);

  grpc::ServerBidiReactor<v1::ShimMessage, v1::DaemonMessage>* Attach(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* GetReport(grpc::CallbackServerContext* context,
                                      const v1::GetReportRequest* request,
                                      v1::GetReportReply* reply) override;

 private:
  session::Loop& loop_;
  session::SessionTable& sessions_;
  IdentityTable& identities_;
  const Report report_;
  const Options options_;
};

}  // namespace blazed::rpc
