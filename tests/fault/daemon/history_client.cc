#include "tests/fault/daemon/history_client.h"

#include "tests/fakes/scripted_shim.h"

namespace blazed::fault {

HistoryClient::HistoryClient(const std::string& socket)
    : stub_(v1::History::NewStub(fakes::DialDaemon(socket))) {}

std::optional<v1::GetStatusReply> HistoryClient::Status() const {
  grpc::ClientContext context;
  fakes::Prepare(&context);
  v1::GetStatusReply reply;
  if (!stub_->GetStatus(&context, v1::GetStatusRequest(), &reply).ok()) return std::nullopt;
  return reply;
}

std::optional<std::vector<v1::SettlementRow>> HistoryClient::Settlements() const {
  std::vector<v1::SettlementRow> rows;
  v1::ListRequest request;
  request.set_page_size(1000);
  do {
    grpc::ClientContext context;
    fakes::Prepare(&context);
    v1::ListSettlementsReply reply;
    if (!stub_->ListSettlements(&context, request, &reply).ok()) return std::nullopt;
    rows.insert(rows.end(), reply.rows().begin(), reply.rows().end());
    request.set_page_token(reply.next_page_token());
  } while (!request.page_token().empty());
  return rows;
}

std::optional<v1::ExplainReply> HistoryClient::Explain(const std::string& workload) const {
  grpc::ClientContext context;
  fakes::Prepare(&context);
  v1::ExplainRequest request;
  request.set_workload(workload);
  v1::ExplainReply reply;
  if (!stub_->Explain(&context, request, &reply).ok()) return std::nullopt;
  return reply;
}

}  // namespace blazed::fault
