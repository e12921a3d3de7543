// The store without a disk: the twin of SqliteStore for tests and for a daemon that has no place to
// write. Nothing survives the process, so its epoch is always 1.
//
// Threads: as Store says; readers share the published state under a lock that no call holds for
// long.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/store.h"

namespace blazed::storage {

struct MemoryOptions {
  std::function<WallNs()> clock;  // wall time of rows; empty: the system's
  uint64_t events_kept = 20'000;
  uint64_t kernels_kept = 200;
  uint64_t pair_sets_kept = 2'000;
  uint32_t prune_batch = 500;
};

class MemoryStore : public Store {
 public:
  explicit MemoryStore(MemoryOptions options = {});
  ~MemoryStore() override;

  uint64_t epoch() const override { return 1; }
  absl::Status Begin() override;
  absl::Status Commit(Durability durability) override;
  void Rollback() override;
  absl::Status PutEnvironment(const EnvironmentRow& row) override;
  absl::Status PutGraph(const GraphRow& row) override;
  absl::Status PutWorkload(const WorkloadRow& row) override;
  absl::StatusOr<TuningId> PutTuning(const TuningKey& key) override;
  absl::StatusOr<uint64_t> CountTunings(uint32_t uid, TuningId up_to) override;
  absl::StatusOr<planner::SessionId> NewSessionId() override;
  absl::Status PutSession(const SessionRow& row) override;
  absl::Status PutPlan(TuningId tuning, const planner::PlanRecord& record) override;
  absl::Status PutVariant(TuningId tuning, planner::SessionId session, planner::VariantId variant,
                          const planner::Plan& plan, const Digest& signature, uint64_t build_ns,
                          uint64_t peak_bytes, const std::string& failure) override;
  absl::Status PutProbe(TuningId tuning, const planner::KeepProbe& probe) override;
  absl::Status PutRace(TuningId tuning, const planner::RaceRecord& record) override;
  absl::Status PutForecast(TuningId tuning, const planner::KeepForecast& forecast) override;
  absl::Status PutOutcome(TuningId tuning, const planner::KeepOutcome& outcome) override;
  absl::Status PutSurrogate(TuningId tuning, const std::vector<uint8_t>& state) override;
  absl::Status PutDriftTimer(TuningId tuning, const planner::DriftTimer& timer) override;
  absl::Status PutKernels(TuningId tuning, const PlanKernels& kernels) override;
  absl::StatusOr<int64_t> PutEvent(const EventRow& event) override;
  absl::StatusOr<uint64_t> PutSettlement(TuningId tuning,
                                         const planner::SettlementRecord& record) override;
  absl::Status Demote(uint64_t settlement, const std::string& reason) override;
  absl::StatusOr<Memory> LoadMemory(TuningId tuning) override;
  std::unique_ptr<Reader> NewReader() override;
  absl::Status Checkpoint() override;
  absl::StatusOr<uint64_t> Prune() override;
  absl::StatusOr<std::string> Backup() override;
  absl::Time NewestBackup() const override { return absl::InfiniteFuture(); }

 private:
  struct Published;
  class PublishedReader;
  using Change = std::function<absl::Status(class MemoryState&)>;

  // Applies a change to the working state; it reaches readers at the commit, by being applied to
  // theirs as well.
  absl::Status Edit(Change change);
  // The same for a change that answers with a value.
  template <typename T>
  absl::StatusOr<T> EditFor(std::function<absl::StatusOr<T>(class MemoryState&)> change);
  void Publish();

  const MemoryOptions options_;
  const std::shared_ptr<Published> published_;
  const std::unique_ptr<class MemoryState> working_;
  std::vector<Change> pending_;
  bool in_transaction_ = false;
};

}  // namespace blazed::storage
