#include "client/cpp/transport/link_handlers.h"

#include "client/cpp/wire/codec.h"

namespace blazed::shim {

void Link::ReportHandler::OnClosed(const CallStatus& status) {
  done_ = true;
  std::optional<std::string> json;
  if (status.code == kGrpcOk && reply_.has_value()) json = DecodeGetReportReply(*reply_);
  if (json.has_value()) {
    mailbox_->FinishReport(ReportOutcome::kOk, std::move(*json));
  } else {
    mailbox_->FinishReport(
        status.code == kGrpcNotFound ? ReportOutcome::kNotFound : ReportOutcome::kFailed, "");
  }
}

RefusalFor OverLimitRefusal(const DaemonBody& body) {
  RefusalFor refusal;
  refusal.message.reason = Refusal::kOverLimit;
  refusal.message.detail = "more directives than the host can take, send fewer ahead";
  refusal.wanted = true;
  if (const auto* build = std::get_if<Build>(&body)) {
    refusal.message.directive_id = build->build_id;
    refusal.message.variant = build->variant;
  } else if (const auto* probe = std::get_if<Probe>(&body)) {
    refusal.message.directive_id = probe->probe_id;
  } else if (const auto* pairs = std::get_if<RunPairs>(&body)) {
    refusal.message.directive_id = pairs->lease_id;
    refusal.message.variant = pairs->challenger;
  } else if (const auto* adopt = std::get_if<Adopt>(&body)) {
    refusal.message.directive_id = adopt->adopt_id;
    refusal.message.variant = adopt->variant;
  } else {
    refusal.wanted = false;
  }
  return refusal;
}

}  // namespace blazed::shim
