// The store of one daemon: what it learned, kept across restarts. Two implementations, one contract
// test: SqliteStore (storage/sqlite) and MemoryStore (storage/memory).
//
// Threads: every method of Store blocks and is called from one thread only, the writer thread of
// storage/writer.h. Readers use Reader from any thread; a Reader never blocks the writer.
// Errors: FAILED_PRECONDITION for a store of another schema or owner (the text says the next move),
// DATA_LOSS for damage and for a sync that failed, RESOURCE_EXHAUSTED for a full disk, UNAVAILABLE
// for an I/O error. After the last two, in a row or in a commit, nothing of the transaction is
// kept: roll it back and try it again later. After DATA_LOSS the store answers nothing but
// FAILED_PRECONDITION until it is opened again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/kernels.h"
#include "storage/records.h"

namespace blazed::storage {

// Whose rows: one user's, or only those of one of its principals.
struct Owner {
  uint32_t uid = 0;
  std::string principal;  // empty: any of the user's
  bool Owns(const TuningKey& key) const {
    return key.uid == uid && (principal.empty() || key.principal == principal);
  }
};

// How much of an answer to give; rows newest first.
struct Page {
  uint32_t limit = 50;         // 1..1000
  int64_t before = 0;          // row id to go on below; 0: from the newest
  std::string workload_hex;    // fingerprint or a prefix; empty: all
  std::optional<Owner> owner;  // nullopt: everyone's
};

// Events in the order they happened, for following along.
struct EventPage {
  int64_t after = 0;     // only ids above this one
  uint32_t limit = 256;  // 1..1000
  std::string workload_hex;
  std::optional<Owner> owner;  // nullopt: everyone's and the daemon's own
};

// Read-only view for queries. Each call is its own short transaction.
class Reader {
 public:
  virtual ~Reader() = default;

  // A row with its key, for lists.
  struct Workload {
    int64_t id = 0;
    WorkloadRow row;
    WallNs first_seen_ns = 0, last_seen_ns = 0;
    std::optional<StoredSettlement> settlement;  // newest in force
  };
  struct Graph {
    int64_t id = 0;
    GraphRow row;
    WallNs first_seen_ns = 0;
  };
  struct Tuning {
    TuningId id = 0;
    TuningKey key;
  };

  virtual absl::StatusOr<std::vector<Workload>> Workloads(const Page& page) = 0;
  virtual absl::StatusOr<std::vector<Graph>> Graphs(const Page& page) = 0;
  virtual absl::StatusOr<std::vector<StoredPlan>> Plans(const Page& page) = 0;
  virtual absl::StatusOr<std::vector<StoredRace>> Races(const Page& page) = 0;
  virtual absl::StatusOr<std::vector<StoredSettlement>> Settlements(const Page& page) = 0;
  virtual absl::StatusOr<std::vector<EventRow>> Events(const EventPage& page) = 0;
  virtual absl::StatusOr<int64_t> LastEventId() = 0;  // 0: none yet
  virtual absl::StatusOr<std::vector<planner::PairSample>> LoadPairs(int64_t race_row) = 0;
  virtual absl::StatusOr<Tuning> TuningById(TuningId id) = 0;
  // Row id of a plan of a tuning; 0: not stored.
  virtual absl::StatusOr<int64_t> PlanId(TuningId tuning, const planner::Plan& plan) = 0;
  virtual absl::StatusOr<WorkloadRow> WorkloadByPrefix(const std::string& hex_prefix) = 0;
  virtual absl::StatusOr<EnvironmentRow> Environment(const Digest& fingerprint) = 0;
  virtual absl::StatusOr<std::optional<planner::DriftTimer>> Drift(int64_t settlement) = 0;
  // What a step runs under a plan and under the default; nothing: no session told.
  virtual absl::StatusOr<std::optional<StoredKernels>> Kernels(TuningId tuning,
                                                               const planner::Plan& plan) = 0;
  virtual absl::StatusOr<std::optional<SessionRow>> Session(planner::SessionId id) = 0;
  // Everything about one session's tuning, for its report.
  struct SessionStory {
    SessionRow session;
    TuningKey key;
    WorkloadRow workload;
    std::vector<GraphRow> graphs;
    EnvironmentRow environment;
    std::optional<planner::ForecastRecord> forecast;
    std::optional<StoredOutcome> outcome;
    // The one that the session's outcome rests on, in whatever state it is by now. Without an
    // outcome the one in force for the tuning.
    std::optional<StoredSettlement> settlement;
    std::vector<StoredPlan> plans;
    std::vector<StoredRace> races;
  };
  virtual absl::StatusOr<SessionStory> Story(planner::SessionId id) = 0;
  // What the database and its log take on the disk; 0 for a store in memory. Does not read the
  // database.
  virtual absl::StatusOr<uint64_t> SizeBytes() = 0;
  // Rows left out since the store was opened because their checksum is wrong; a row met twice
  // counts twice.
  virtual uint64_t DamagedRows() const = 0;
};

enum class Durability { kBatched, kSynced };  // WAL NORMAL, or fsync before the call returns

class Store {
 public:
  virtual ~Store() = default;

  // Grows by one with every open; durable before the call returns.
  virtual uint64_t epoch() const = 0;

  // Groups the writes that follow into one transaction until Commit.
  virtual absl::Status Begin() = 0;
  virtual absl::Status Commit(Durability durability) = 0;
  virtual void Rollback() = 0;

  virtual absl::Status PutEnvironment(const EnvironmentRow& row) = 0;
  virtual absl::Status PutGraph(const GraphRow& row) = 0;
  virtual absl::Status PutWorkload(const WorkloadRow& row) = 0;
  virtual absl::StatusOr<TuningId> PutTuning(const TuningKey& key) = 0;
  // Tunings of one user whose id is at most `up_to`: which one in its user's row that one is.
  virtual absl::StatusOr<uint64_t> CountTunings(uint32_t uid, TuningId up_to) = 0;
  virtual absl::StatusOr<planner::SessionId> NewSessionId() = 0;
  virtual absl::Status PutSession(const SessionRow& row) = 0;  // insert or update by id

  virtual absl::Status PutPlan(TuningId tuning, const planner::PlanRecord& record) = 0;  // by plan
  virtual absl::Status PutVariant(TuningId tuning, planner::SessionId session,
                                  planner::VariantId variant, const planner::Plan& plan,
                                  const Digest& signature, uint64_t build_ns, uint64_t peak_bytes,
                                  const std::string& failure) = 0;
  virtual absl::Status PutProbe(TuningId tuning, const planner::KeepProbe& probe) = 0;
  virtual absl::Status PutRace(TuningId tuning, const planner::RaceRecord& record) = 0;
  virtual absl::Status PutForecast(TuningId tuning, const planner::KeepForecast& forecast) = 0;
  virtual absl::Status PutOutcome(TuningId tuning, const planner::KeepOutcome& outcome) = 0;
  virtual absl::Status PutSurrogate(TuningId tuning, const std::vector<uint8_t>& state) = 0;
  virtual absl::Status PutDriftTimer(TuningId tuning, const planner::DriftTimer& timer) = 0;
  // Of a plan that is not the default; takes the place of what was told of it before.
  virtual absl::Status PutKernels(TuningId tuning, const PlanKernels& kernels) = 0;
  virtual absl::StatusOr<int64_t> PutEvent(const EventRow& event) = 0;

  // Supersedes the settlement in force of this tuning. Returns the row id.
  virtual absl::StatusOr<uint64_t> PutSettlement(TuningId tuning,
                                                 const planner::SettlementRecord& record) = 0;
  virtual absl::Status Demote(uint64_t settlement, const std::string& reason) = 0;

  // What the planner should know when this tuning is opened. Rows whose checksum is wrong are left
  // out and counted.
  struct Memory {
    planner::Digest workload{};
    std::optional<planner::SettlementRecord> settlement;
    std::optional<planner::SettlementRecord>
        candidate;  // another principal's, same workload, environment, contract
    std::optional<planner::DriftTimer> drift;
    std::vector<planner::PlanRecord> plans;
    uint64_t races = 0;  // highest id of a race; rows below it may be missing
    // Verifications and replications. A missing race may have been one and counts as one, so that
    // the planner's error split never takes a share twice.
    uint64_t checks = 0;
    std::vector<uint8_t> surrogate;
    std::vector<planner::Plan> with_kernels;  // plans of which Kernels has something
    // The user's newest searches that ended with an answer, of any workload in this environment
    // under this contract.
    std::vector<planner::EarlierSearch> searches;
    uint64_t damaged_rows = 0;
  };
  virtual absl::StatusOr<Memory> LoadMemory(TuningId tuning) = 0;

  virtual std::unique_ptr<Reader> NewReader() = 0;

  // Moves the log into the main file; called when idle and at an orderly stop.
  virtual absl::Status Checkpoint() = 0;

  // One small batch of retention, in a transaction of its own: the oldest events and raw pairs
  // above the caps. Settlements and the races of their tunings stay. Returns the rows removed; 0:
  // nothing to do.
  virtual absl::StatusOr<uint64_t> Prune() = 0;

  // A verified copy, rotated. Returns its path; FAILED_PRECONDITION for a store that lives in
  // memory.
  virtual absl::StatusOr<std::string> Backup() = 0;
  // When the newest backup was taken; InfinitePast: never; InfiniteFuture: none is wanted.
  virtual absl::Time NewestBackup() const = 0;
};

}  // namespace blazed::storage
