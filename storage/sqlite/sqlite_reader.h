// Queries over read-only connections. Safe from any thread: each call takes a connection of a small
// pool, waits where all are taken, and reads one snapshot within the time budget.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/queries.h"
#include "storage/store.h"

namespace blazed::storage {

class SqliteReader : public Reader {
 public:
  struct Options {
    std::string database;
    int64_t store = 0;
    std::string vfs;
    size_t connections = 4;
    absl::Duration budget = absl::Seconds(1);
  };

  SqliteReader(Options options, std::shared_ptr<DamageCount> damaged);
  ~SqliteReader() override;

  absl::StatusOr<std::vector<Workload>> Workloads(const Page& page) override;
  absl::StatusOr<std::vector<Graph>> Graphs(const Page& page) override;
  absl::StatusOr<std::vector<StoredPlan>> Plans(const Page& page) override;
  absl::StatusOr<std::vector<StoredRace>> Races(const Page& page) override;
  absl::StatusOr<std::vector<StoredSettlement>> Settlements(const Page& page) override;
  absl::StatusOr<std::vector<EventRow>> Events(const EventPage& page) override;
  absl::StatusOr<int64_t> LastEventId() override;
  absl::StatusOr<std::vector<planner::PairSample>> LoadPairs(int64_t race_row) override;
  absl::StatusOr<Tuning> TuningById(TuningId id) override;
  absl::StatusOr<int64_t> PlanId(TuningId tuning, const planner::Plan& plan) override;
  absl::StatusOr<WorkloadRow> WorkloadByPrefix(const std::string& hex_prefix) override;
  absl::StatusOr<EnvironmentRow> Environment(const Digest& fingerprint) override;
  absl::StatusOr<std::optional<planner::DriftTimer>> Drift(int64_t settlement) override;
  absl::StatusOr<std::optional<StoredKernels>> Kernels(TuningId tuning,
                                                       const planner::Plan& plan) override;
  absl::StatusOr<std::optional<SessionRow>> Session(planner::SessionId id) override;
  absl::StatusOr<SessionStory> Story(planner::SessionId id) override;
  absl::StatusOr<uint64_t> SizeBytes() override;
  uint64_t DamagedRows() const override { return damaged_->load(std::memory_order_relaxed); }

 private:
  // Runs `query` in one read transaction on a connection of the pool.
  absl::Status Read(const std::function<absl::Status(Connection&)>& query);
  absl::StatusOr<std::unique_ptr<Connection>> TakeConnection();
  void GiveBack(std::unique_ptr<Connection> connection);
  bool FreePlace() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !idle_.empty() || open_ < options_.connections;
  }

  const Options options_;
  const std::shared_ptr<DamageCount> damaged_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);
  size_t open_ ABSL_GUARDED_BY(mutex_) = 0;  // idle and lent
};

}  // namespace blazed::storage
