// Stored rows as messages. Where proto begins and ends for History.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "blazed/v1/history.pb.h"
#include "daemon/history/status_source.h"
#include "storage/store.h"

namespace blazed::history {

// What rows need beside themselves, each read once a call. Not thread-safe: one a call.
class Lookup {
 public:
  explicit Lookup(storage::Reader& reader) : reader_(reader) {}

  struct Context {
    storage::TuningKey key;
    planner::WorkloadSpec workload;  // no decisions where the workload's row is damaged
  };
  absl::StatusOr<const Context*> Of(storage::TuningId tuning);
  storage::Reader& reader() { return reader_; }

 private:
  storage::Reader& reader_;
  std::map<storage::TuningId, Context> contexts_;
};

v1::WorkloadRow ToProto(const storage::Reader::Workload& workload);
v1::GraphRow ToProto(const storage::Reader::Graph& graph);
absl::StatusOr<v1::PlanRow> ToProto(const storage::StoredPlan& plan, Lookup& lookup);
absl::StatusOr<v1::RaceRow> ToProto(const storage::StoredRace& race, Lookup& lookup);
absl::StatusOr<v1::SettlementRow> ToProto(const storage::StoredSettlement& settlement,
                                          Lookup& lookup);
absl::StatusOr<v1::WatchEvent> ToProto(const storage::EventRow& event, Lookup& lookup);
v1::KernelComparison ToProto(const storage::StoredKernels& kernels);
v1::SessionStatus ToProto(const SessionStatus& session);
v1::StoreOpening ToProto(const storage::OpenReport& report);

v1::Plan ToProto(const planner::Plan& plan);

}  // namespace blazed::history
