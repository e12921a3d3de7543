#include "client/blazectl/queries.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "blazed/v1/history.grpc.pb.h"
#include "blazed/v1/tuner.grpc.pb.h"
#include "client/blazectl/text.h"

namespace blazed::blazectl {
namespace {

constexpr uint32_t kPageRows = 500;     // a page is one message
constexpr uint32_t kNameSearch = 2000;  // workloads looked through for a name
constexpr size_t kShortestPrefix = 4;
constexpr size_t kTokenDigits = 32;
constexpr size_t kFingerprintDigits = 32;

template <typename Reply>
using ListMethod = grpc::Status (v1::History::Stub::*)(grpc::ClientContext*, const v1::ListRequest&,
                                                       Reply*);

// Follows page tokens until `limit` rows are there or the daemon has no further page.
template <typename Reply>
absl::StatusOr<Reply> List(const Connection& connection, const Selection& selection,
                           ListMethod<Reply> method) {
  v1::History::Stub stub(connection.channel());
  Reply all;
  v1::ListRequest request;
  request.set_workload(selection.workload);
  while (true) {
    request.set_page_size(
        std::min(kPageRows, selection.limit - static_cast<uint32_t>(all.rows_size())));
    Reply page;
    grpc::ClientContext context;
    connection.Prepare(context);
    const grpc::Status status = (stub.*method)(&context, request, &page);
    if (!status.ok()) return connection.Translate(status);
    all.mutable_rows()->MergeFrom(page.rows());
    all.set_next_page_token(page.next_page_token());
    const bool full = static_cast<uint32_t>(all.rows_size()) >= selection.limit;
    // A page without rows that names a next one would have us ask for ever.
    if (full || page.next_page_token().empty() || page.rows().empty()) return all;
    request.set_page_token(page.next_page_token());
  }
}

bool LooksLikeHex(const std::string& text) {
  return text.size() >= kShortestPrefix && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(c));
         });
}

// The session field of GetReport: 16 bytes of a token, or the number in eight bytes, most
// significant first.
absl::StatusOr<std::string> SessionBytes(const std::string& typed) {
  if (typed.size() == kTokenDigits && LooksLikeHex(typed)) return absl::HexStringToBytes(typed);
  uint64_t number = 0;
  if (!absl::SimpleAtoi(typed, &number)) {
    return absl::InvalidArgumentError(absl::StrCat("'", typed,
                                                   "' is no session; give the number that blazectl "
                                                   "status shows, or a token of 32 hex digits"));
  }
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, number >>= 8)
    bytes[static_cast<size_t>(i)] = static_cast<char>(number & 0xFF);
  return bytes;
}

}  // namespace

absl::StatusOr<v1::GetStatusReply> GetStatus(const Connection& connection) {
  v1::History::Stub stub(connection.channel());
  grpc::ClientContext context;
  connection.Prepare(context);
  v1::GetStatusReply reply;
  const grpc::Status status = stub.GetStatus(&context, {}, &reply);
  if (!status.ok()) return connection.Translate(status);
  return reply;
}

absl::StatusOr<v1::ListWorkloadsReply> ListWorkloads(const Connection& connection,
                                                     const Selection& selection) {
  return List<v1::ListWorkloadsReply>(connection, selection, &v1::History::Stub::ListWorkloads);
}

absl::StatusOr<v1::ListGraphsReply> ListGraphs(const Connection& connection,
                                               const Selection& selection) {
  return List<v1::ListGraphsReply>(connection, selection, &v1::History::Stub::ListGraphs);
}

absl::StatusOr<v1::ListPlansReply> ListPlans(const Connection& connection,
                                             const Selection& selection) {
  return List<v1::ListPlansReply>(connection, selection, &v1::History::Stub::ListPlans);
}

absl::StatusOr<v1::ListRacesReply> ListRaces(const Connection& connection,
                                             const Selection& selection) {
  return List<v1::ListRacesReply>(connection, selection, &v1::History::Stub::ListRaces);
}

absl::StatusOr<v1::ListSettlementsReply> ListSettlements(const Connection& connection,
                                                         const Selection& selection) {
  return List<v1::ListSettlementsReply>(connection, selection, &v1::History::Stub::ListSettlements);
}

absl::StatusOr<v1::ExplainReply> Explain(const Connection& connection, const std::string& workload,
                                         uint64_t plan) {
  v1::History::Stub stub(connection.channel());
  grpc::ClientContext context;
  connection.Prepare(context);
  v1::ExplainRequest request;
  request.set_workload(workload);
  request.set_plan(plan);
  v1::ExplainReply reply;
  const grpc::Status status = stub.Explain(&context, request, &reply);
  if (!status.ok()) return connection.Translate(status);
  return reply;
}

absl::StatusOr<std::string> GetReport(const Connection& connection, const std::string& session) {
  const absl::StatusOr<std::string> bytes = SessionBytes(session);
  if (!bytes.ok()) return bytes.status();
  v1::Tuner::Stub stub(connection.channel());
  grpc::ClientContext context;
  connection.Prepare(context);
  v1::GetReportRequest request;
  request.set_session(*bytes);
  v1::GetReportReply reply;
  const grpc::Status status = stub.GetReport(&context, request, &reply);
  if (!status.ok()) return connection.Translate(status);
  return reply.json();
}

absl::StatusOr<std::string> ResolveWorkload(const Connection& connection,
                                            const std::string& typed) {
  const bool hex = LooksLikeHex(typed);
  if (typed.empty() || (hex && typed.size() == kFingerprintDigits)) return typed;
  const auto known = ListWorkloads(connection, {"", kNameSearch});
  if (!known.ok()) return known.status();
  std::vector<std::string> named, begun;
  for (const v1::WorkloadRow& row : known->rows()) {
    if (row.name() == typed) {
      named.push_back(row.fingerprint());
    } else if (hex && absl::StartsWithIgnoreCase(row.fingerprint(), typed)) {
      begun.push_back(row.fingerprint());
    }
  }
  // The daemon knows more workloads than were looked through here.
  if (named.empty() && hex) return typed;
  if (named.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no workload is named '", typed, "'; blazectl graphs lists those known"));
  }
  if (named.size() == 1 && begun.empty()) return named.front();
  // A name of hex digits may be the beginning of another's fingerprint.
  named.insert(named.end(), begun.begin(), begun.end());
  for (std::string& fingerprint : named) fingerprint = ShortHex(fingerprint);
  return absl::InvalidArgumentError(
      absl::StrCat("'", typed, "' fits ", named.size(),
                   " workloads; name one by its fingerprint: ", absl::StrJoin(named, ", ")));
}

absl::StatusOr<std::string> NewestWorkload(const Connection& connection) {
  const auto known = ListWorkloads(connection, {"", kNameSearch});
  if (!known.ok()) return known.status();
  const v1::WorkloadRow* newest = nullptr;
  for (const v1::WorkloadRow& row : known->rows()) {
    if (newest == nullptr || row.last_seen_unix_ns() > newest->last_seen_unix_ns()) newest = &row;
  }
  if (newest == nullptr) {
    return absl::NotFoundError("no workload was seen yet; attach a job with mode tune");
  }
  return newest->fingerprint();
}

}  // namespace blazed::blazectl
