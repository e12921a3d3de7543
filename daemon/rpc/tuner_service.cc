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

// A session's number, most significant byte first.
std::optional<planner::SessionId> ParseNumber(const std::string& bytes) {
  if (bytes.size() != sizeof(planner::SessionId)) return std::nullopt;
  planner::SessionId number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

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
  const std::optional<SessionToken> token = ParseBytes16(request->session());
  const std::optional<planner::SessionId> number = ParseNumber(request->session());
  if (!token && !number) {
    reactor->Finish(ToGrpc(absl::InvalidArgumentError(
        absl::StrCat("GetReportRequest.session has ", request->session().size(),
                     " bytes; send the 16 of Welcome.session, or a session's number in 8"))));
    return reactor;
  }
  auto finish = [reactor, reply](absl::StatusOr<std::string> json) {
    if (json.ok()) reply->set_json(*std::move(json));
    reactor->Finish(ToGrpc(json.status()));
  };
  loop_.Post([this, token, number, principal = peer->principal, finish] {
    absl::StatusOr<planner::SessionId> session = token ? sessions_.FindByToken(*token, principal)
                                                       : sessions_.FindByNumber(*number, principal);
    if (!session.ok()) return finish(session.status());
    report_(*session, sessions_.Progress(*session), finish);
  });
  return reactor;
}

}  // namespace blazed::rpc
