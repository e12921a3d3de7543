// What a MemoryStore knows, as plain maps with the rules of the SQL tables: the same keys, the same
// refusals. Copyable and deterministic: the same edits give the same state. Not thread-safe;
// MemoryStore guards it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store.h"

namespace blazed::storage {

class MemoryState {
 public:
  absl::Status PutEnvironment(const EnvironmentRow& row);
  absl::Status PutGraph(const GraphRow& row, WallNs now_ns);
  absl::Status PutWorkload(const WorkloadRow& row, WallNs now_ns);
  absl::StatusOr<TuningId> PutTuning(const TuningKey& key);
  uint64_t CountTunings(uint32_t uid, TuningId up_to) const;
  planner::SessionId NewSessionId() { return next_session_++; }
  absl::Status PutSession(const SessionRow& row);
  absl::Status PutPlan(TuningId tuning, const planner::PlanRecord& record, WallNs now_ns);
  absl::Status PutRace(TuningId tuning, const planner::RaceRecord& record, WallNs now_ns);
  absl::Status PutForecast(TuningId tuning, const planner::KeepForecast& forecast);
  absl::Status PutOutcome(TuningId tuning, const planner::KeepOutcome& outcome, WallNs now_ns);
  absl::Status PutSurrogate(TuningId tuning, const std::vector<uint8_t>& state);
  absl::Status PutDriftTimer(TuningId tuning, const planner::DriftTimer& timer);
  absl::Status PutKernels(TuningId tuning, const PlanKernels& kernels, WallNs now_ns);
  absl::StatusOr<int64_t> PutEvent(const EventRow& event);
  absl::StatusOr<uint64_t> PutSettlement(TuningId tuning, const planner::SettlementRecord& record,
                                         WallNs now_ns);
  absl::Status Demote(uint64_t settlement, const std::string& reason);
  // NOT_FOUND unless the tuning is stored; for rows that only refer to it.
  absl::Status CheckTuning(TuningId tuning) const;
  absl::StatusOr<Store::Memory> LoadMemory(TuningId tuning) const;
  // The oldest events above the cap, then kernels of plans and raw pairs above theirs.
  uint64_t Prune(uint64_t events_kept, uint64_t kernels_kept, uint64_t pair_sets_kept,
                 uint32_t batch);

  absl::StatusOr<std::vector<Reader::Workload>> Workloads(const Page& page) const;
  absl::StatusOr<std::vector<Reader::Graph>> Graphs(const Page& page) const;
  absl::StatusOr<std::vector<StoredPlan>> Plans(const Page& page) const;
  absl::StatusOr<std::vector<StoredRace>> Races(const Page& page) const;
  absl::StatusOr<std::vector<StoredSettlement>> Settlements(const Page& page) const;
  absl::StatusOr<std::vector<EventRow>> Events(const EventPage& page) const;
  int64_t LastEventId() const { return last_event_; }
  absl::StatusOr<std::vector<planner::PairSample>> LoadPairs(int64_t race_row) const;
  absl::StatusOr<Reader::Tuning> TuningById(TuningId id) const;
  int64_t PlanId(TuningId tuning, const planner::Plan& plan) const;
  absl::StatusOr<WorkloadRow> WorkloadByPrefix(const std::string& hex_prefix) const;
  absl::StatusOr<EnvironmentRow> Environment(const Digest& fingerprint) const;
  std::optional<planner::DriftTimer> Drift(int64_t settlement) const;
  std::optional<StoredKernels> Kernels(TuningId tuning, const planner::Plan& plan) const;
  std::optional<SessionRow> Session(planner::SessionId id) const;
  absl::StatusOr<Reader::SessionStory> Story(planner::SessionId id) const;

 private:
  template <typename Rows>
  absl::StatusOr<std::vector<typename Rows::mapped_type>> Evidence(const Rows& rows,
                                                                   const Page& page) const;
  bool Seen(const Owner& owner, const Digest& workload) const;
  const StoredSettlement* InForce(TuningId tuning) const;
  std::vector<planner::EarlierSearch> EarlierSearches(const TuningKey& key) const;

  std::map<Digest, EnvironmentRow> environments_;
  std::map<int64_t, Reader::Graph> graphs_;
  std::map<int64_t, Reader::Workload> workloads_;
  std::map<TuningKey, TuningId> tuning_ids_;
  std::map<TuningId, TuningKey> tunings_;
  std::map<planner::SessionId, SessionRow> sessions_;
  std::map<int64_t, StoredPlan> plans_;
  std::map<int64_t, StoredRace> races_;
  std::map<int64_t, std::vector<planner::PairSample>> pairs_;  // by race row
  std::map<planner::SessionId, planner::ForecastRecord> forecasts_;
  std::map<planner::SessionId, StoredOutcome> outcomes_;
  std::map<int64_t, StoredSettlement> settlements_;
  std::map<uint64_t, planner::DriftTimer> drift_timers_;
  std::map<TuningId, std::vector<uint8_t>> surrogates_;
  std::map<int64_t, StoredKernels> kernels_;
  std::map<int64_t, EventRow> events_;
  int64_t last_event_ = 0;
  planner::SessionId next_session_ = 1;
};

}  // namespace blazed::storage
