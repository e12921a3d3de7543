#include "daemon/rpc/tuner_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/ids.h"
#include "daemon/rpc/attach_stream.h"
#include "daemon/rpc/identify.h"
#include "daemon/rpc/status_map.h"

namespace blazed::rpc {
namespace {

// A stream that ends before it began.
class RefusedStream final : public AttachReactor {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

}  // namespace

TunerService::TunerService(session::Loop& loop, session::SessionTable& sessions,
                           IdentityTable& identities, Report report, Options options)
    : loop_(loop),
      sessions_(sessions),
      identities_(identities),
      report_(std::move(report)),
      options_(options) {}

AttachReactor* TunerService::Attach(grpc::CallbackServerContext* context) {
  absl::StatusOr<session::Peer> peer = Identify(*context, identities_);
  if (!peer.ok()) return new RefusedStream(peer.status());
  return new AttachStream(loop_, sessions_, *std::move(peer), options_.outgoing_messages);
}

grpc::ServerUnaryReactor* TunerService::GetReport(grpc::CallbackServerContext* context,
                                                  const v1::GetReportRequest* request,
                                                  v1::GetReportReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<session::Peer> peer = Identify(*context, identities_);
  if (!peer.ok()) {
    reactor->Finish(ToGrpc(peer.status()));
    return reactor;
  }
  std::optional<SessionToken> token = ParseBytes16(request->session());
  if (!token) {
    reactor->Finish(ToGrpc(absl::InvalidArgumentError(
        absl::StrCat("GetReportRequest.session has ", request->session().size(),
                     " bytes; send the 16 of Welcome.session"))));
    return reactor;
  }
  auto finish = [reactor, reply](absl::StatusOr<std::string> json) {
    if (json.ok()) reply->set_json(*std::move(json));
    reactor->Finish(ToGrpc(json.status()));
  };
  loop_.Post([this, token = *token, principal = peer->principal, finish] {
    absl::StatusOr<planner::SessionId> session = sessions_.FindByToken(token, principal);
    if (!session.ok()) return finish(session.status());
    report_(*session, finish);
  });
  return reactor;
}

}  // namespace blazed::rpc
