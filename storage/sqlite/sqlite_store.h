// The store on disk: one SQLite database in a local folder, owned by one daemon.
//
// Threads: Open and every method of Store on the writer thread; NewReader and damaged_rows from any
// thread. The store owns the only connection that writes or checkpoints; readers open their own,
// read-only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/names.h"
#include "storage/open_report.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/identity_file.h"
#include "storage/sqlite/lock_file.h"
#include "storage/sqlite/tables.h"
#include "storage/store.h"

namespace blazed::storage {

struct SqliteOptions {
  std::string folder;                // made with mode 0700 where missing
  std::function<WallNs()> clock;     // wall time of rows; empty: the system's
  uint64_t max_bytes = 0;            // size limit of the database; 0: none
  uint32_t checkpoint_pages = 1000;  // log length at which a commit moves it into the main file
  uint64_t events_kept = 200'000;    // retention caps; Prune removes the oldest rows above them
  uint64_t events_kept_crowded = 10'000;  // the same above three quarters of max_bytes
  uint64_t probes_kept = 100'000;
  uint64_t variants_kept = 100'000;
  uint64_t kernels_kept = 2'000;     // plans whose kernels are kept
  uint64_t pair_sets_kept = 20'000;  // raw pairs of races; settled tunings' races do not count
  uint32_t prune_batch = 500;        // rows a call of Prune removes at most
  size_t backups_kept = 5;
  size_t readers = 4;                             // connections a Reader keeps
  absl::Duration read_budget = absl::Seconds(1);  // time one query may take
  std::string vfs;                                // a registered SQLite VFS; empty: the default
};

class SqliteStore : public Store {
 public:
  // Takes the lock, checks, migrates, quarantines and restores as needed. FAILED_PRECONDITION for a
  // second daemon, a newer schema or a network file system; the text says the next move. `report`
  // may be null.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const SqliteOptions& options,
                                                           OpenReport* report);
  ~SqliteStore() override;

  const StoreNames& names() const { return names_; }
  uint64_t damaged_rows() const { return damaged_->load(std::memory_order_relaxed); }

  uint64_t epoch() const override { return epoch_; }
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
  absl::Time NewestBackup() const override;

 private:
  SqliteStore(const SqliteOptions& options, std::unique_ptr<LockFile> lock,
              std::unique_ptr<Connection> connection);

  // Grows and writes the epoch, takes up the session ids.
  absl::Status StartEpoch(OpenReport::State state);
  absl::Status ReserveSessions();
  // Runs `body` in the transaction at hand or in one of its own; DATA_LOSS and full disks stop the
  // store.
  absl::Status Write(const std::function<absl::Status()>& body);
  absl::Status Usable() const;
  absl::Status SyncLog();
  absl::Status WriteWorkload(const WorkloadRow& row);
  absl::Status WriteEnvironment(const EnvironmentRow& row);
  absl::Status Supersede(TuningId tuning, uint64_t by);
  absl::StatusOr<bool> IsCrowded();  // above three quarters of the size limit
  absl::StatusOr<uint64_t> RemoveOldest(const Table& table, uint64_t kept);
  absl::StatusOr<uint64_t> RemovePairs();
  WallNs Now() const;

  const SqliteOptions options_;
  const StoreNames names_;
  const std::unique_ptr<LockFile> lock_;
  const std::unique_ptr<Connection> connection_;
  const std::shared_ptr<std::atomic<uint64_t>> damaged_;
  uint64_t epoch_ = 0;
  Identity identity_;
  uint64_t next_session_ = 1;
  int log_pages_ = 0;
  bool in_transaction_ = false;
  absl::Status broken_;   // why the transaction at hand can only be rolled back
  absl::Status stopped_;  // the first cause after which nothing is written
};

}  // namespace blazed::storage
