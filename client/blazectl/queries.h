// The daemon's unary calls as functions. Each blocks until the connection's deadline at most; used
// from one thread.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "blazed/v1/history.pb.h"
#include "client/blazectl/connection.h"

namespace blazed::blazectl {

// Rows of all pages, newest first, at most `limit`.
struct Selection {
  std::string workload;  // fingerprint or prefix, empty: all
  uint32_t limit = 50;
};

absl::StatusOr<v1::GetStatusReply> GetStatus(const Connection& connection);
absl::StatusOr<v1::ListWorkloadsReply> ListWorkloads(const Connection& connection,
                                                     const Selection& selection);
absl::StatusOr<v1::ListGraphsReply> ListGraphs(const Connection& connection,
                                               const Selection& selection);
absl::StatusOr<v1::ListPlansReply> ListPlans(const Connection& connection,
                                             const Selection& selection);
absl::StatusOr<v1::ListRacesReply> ListRaces(const Connection& connection,
                                             const Selection& selection);
absl::StatusOr<v1::ListSettlementsReply> ListSettlements(const Connection& connection,
                                                         const Selection& selection);
// `plan` 0: the plan in force.
absl::StatusOr<v1::ExplainReply> Explain(const Connection& connection, const std::string& workload,
                                         uint64_t plan);
// The report's JSON. `session` is a number as `status` shows it, or a token in hex.
absl::StatusOr<std::string> GetReport(const Connection& connection, const std::string& session);

// What the user typed as a workload, as the daemon wants it: a name is looked up and must be one
// workload's, also where it is made of hex digits; other hex digits pass. Empty stays empty.
absl::StatusOr<std::string> ResolveWorkload(const Connection& connection, const std::string& typed);
// The workload seen last; NOT_FOUND where there is none.
absl::StatusOr<std::string> NewestWorkload(const Connection& connection);

}  // namespace blazed::blazectl
