// Reads that the writer and the readers share. Rows whose checksum is wrong, or that do not decode,
// are left out and added to `damaged`.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/tables.h"
#include "storage/store.h"

namespace blazed::storage {

using DamageCount = std::atomic<uint64_t>;

struct StoredEnvironment {
  int64_t id = 0;
  EnvironmentRow row;
};

absl::StatusOr<std::optional<StoredEnvironment>> FindEnvironment(Connection& connection,
                                                                 const Digest& fingerprint,
                                                                 DamageCount& damaged);

// What a workload's checksum covers beside its own columns.
Row WorkloadChildren(const WorkloadRow& row);
Row EnvironmentChildren(const EnvironmentRow& row);

// `suffix` filters the table `workload`. `settlement` of each is not filled.
absl::StatusOr<std::vector<Reader::Workload>> FindWorkloads(Connection& connection,
                                                            const std::string& suffix,
                                                            const Row& parameters,
                                                            DamageCount& damaged);

absl::StatusOr<std::vector<Reader::Graph>> FindGraphs(Connection& connection,
                                                      const std::string& suffix,
                                                      const Row& parameters, DamageCount& damaged);

absl::StatusOr<std::optional<TuningKey>> FindTuning(Connection& connection, TuningId id,
                                                    DamageCount& damaged);

absl::StatusOr<std::vector<StoredPlan>> FindPlans(Connection& connection, const std::string& suffix,
                                                  const Row& parameters, DamageCount& damaged);

absl::StatusOr<std::vector<StoredRace>> FindRaces(Connection& connection, const std::string& suffix,
                                                  const Row& parameters, DamageCount& damaged);

absl::StatusOr<std::vector<StoredSettlement>> FindSettlements(Connection& connection,
                                                              const std::string& suffix,
                                                              const Row& parameters,
                                                              DamageCount& damaged);

absl::StatusOr<std::optional<planner::DriftTimer>> FindDriftTimer(Connection& connection,
                                                                  int64_t settlement,
                                                                  DamageCount& damaged);

absl::StatusOr<std::optional<StoredKernels>> FindKernels(Connection& connection, TuningId tuning,
                                                         const planner::Plan& plan,
                                                         DamageCount& damaged);

absl::StatusOr<std::optional<SessionRow>> FindSession(Connection& connection, planner::SessionId id,
                                                      DamageCount& damaged);

// The blob of a digest, as a parameter.
Value DigestValue(const Digest& digest);

}  // namespace blazed::storage
