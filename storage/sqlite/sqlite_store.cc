#include "storage/sqlite/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "storage/pair_codec.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/queries.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/sqlite_reader.h"
#include "storage/workload_match.h"

namespace blazed::storage {

WallNs SqliteStore::Now() const {
  return options_.clock ? options_.clock() : absl::GetCurrentTimeNanos();
}

absl::Status SqliteStore::Usable() const {
  if (!stopped_.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("the store stopped writing (",
                                                      stopped_.message(),
                                                      "): restart blazed once that is mended"));
  }
  if (!broken_.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the transaction failed (", broken_.message(), "): roll it back"));
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::Begin() {
  if (absl::Status status = Usable(); !status.ok()) return status;
  if (in_transaction_) return absl::FailedPreconditionError("a transaction is already open");
  if (absl::Status status = connection_->Execute("BEGIN IMMEDIATE"); !status.ok()) return status;
  in_transaction_ = true;
  return absl::OkStatus();
}

absl::Status SqliteStore::Commit(Durability durability) {
  if (absl::Status status = Usable(); !status.ok()) return status;
  if (!in_transaction_) return absl::FailedPreconditionError("no transaction is open");
  absl::Status status = connection_->Execute("COMMIT");
  if (status.ok() && durability == Durability::kSynced) status = SyncLog();
  if (!status.ok()) {
    if (absl::IsDataLoss(status)) stopped_ = status;
    Rollback();
    return status;
  }
  in_transaction_ = false;
  if (log_pages_ >= static_cast<int>(options_.checkpoint_pages)) {
    // The commit is in the log already; a checkpoint that cannot finish is tried again after the
    // next one.
    const absl::Status moved = connection_->Execute("PRAGMA wal_checkpoint(PASSIVE)");
    if (absl::IsDataLoss(moved)) stopped_ = moved;
  }
  return absl::OkStatus();
}

// The commit wrote the log without a sync (synchronous=NORMAL); this is the sync that
// synchronous=FULL would do. Through SQLite's own file, so that a VFS under test sees it. After a
// failed one the system may forget what it could not write and let the next one pass, so nothing
// that is said about the disk from then on can be believed.
absl::Status SqliteStore::SyncLog() {
  sqlite3_file* log = nullptr;
  const int found = sqlite3_file_control(connection_->handle(), "main",
                                         SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (found != SQLITE_OK || log == nullptr || log->pMethods == nullptr) {
    return absl::DataLossError("the store has no log to sync");
  }
  if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) == SQLITE_OK) return absl::OkStatus();
  return absl::DataLossError(
      "syncing the store's log failed, so what the disk holds is not known: check the disk");
}

void SqliteStore::Rollback() {
  if (!in_transaction_) return;
  in_transaction_ = false;
  broken_ = absl::OkStatus();
  // SQLite has already rolled back after some errors; then there is nothing left to do.
  connection_->Execute("ROLLBACK").IgnoreError();
}

absl::Status SqliteStore::Write(const std::function<absl::Status()>& body) {
  if (absl::Status status = Usable(); !status.ok()) return status;
  const bool alone = !in_transaction_;
  if (alone) {
    if (absl::Status status = Begin(); !status.ok()) return status;
  }
  absl::Status status = body();
  // A refused value changed nothing; after any other error the transaction's state is SQLite's
  // secret.
  const bool refused = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  if (absl::IsDataLoss(status)) {
    stopped_ = status;
  } else if (!status.ok() && !refused) {
    broken_ = status;
  }
  if (!alone) return status;
  if (!status.ok()) {
    Rollback();
    return status;
  }
  return Commit(Durability::kBatched);
}

absl::Status SqliteStore::PutEnvironment(const EnvironmentRow& row) {
  return Write([&] { return WriteEnvironment(row); });
}

absl::Status SqliteStore::WriteEnvironment(const EnvironmentRow& row) {
  absl::StatusOr<std::optional<StoredEnvironment>> found =
      FindEnvironment(*connection_, row.fingerprint, *damaged_);
  if (!found.ok()) return found.status();
  if (found->has_value()) return absl::OkStatus();
  // Absent, or damaged and told again by a shim: written under the id it has.
  absl::StatusOr<int64_t> id =
      IdWhere(*connection_, kEnvironmentTable, "fingerprint=?", {DigestValue(row.fingerprint)});
  if (!id.ok()) return id.status();
  absl::Status status = WriteRow(*connection_, kEnvironmentTable, *id,
                                 {DigestValue(row.fingerprint)}, EnvironmentChildren(row));
  if (!status.ok()) return status;
  status = connection_->Run("DELETE FROM environment_field WHERE environment=?", {*id});
  for (auto field = row.fields.begin(); status.ok() && field != row.fields.end(); ++field) {
    status = connection_->Run("INSERT INTO environment_field VALUES(?,?,?)",
                              {*id, field->first, field->second});
  }
  return status;
}

absl::Status SqliteStore::PutGraph(const GraphRow& row) {
  return Write([&]() -> absl::Status {
    absl::StatusOr<std::vector<Reader::Graph>> found =
        FindGraphs(*connection_, "WHERE fingerprint=?", {DigestValue(row.fingerprint)}, *damaged_);
    if (!found.ok()) return found.status();
    if (!found->empty()) return absl::OkStatus();
    absl::StatusOr<int64_t> id =
        IdWhere(*connection_, kGraphTable, "fingerprint=?", {DigestValue(row.fingerprint)});
    if (!id.ok()) return id.status();
    return WriteRow(*connection_, kGraphTable, *id, EncodeGraph(row, Now()));
  });
}

absl::Status SqliteStore::PutWorkload(const WorkloadRow& row) {
  return Write([&] { return WriteWorkload(row); });
}

absl::Status SqliteStore::WriteWorkload(const WorkloadRow& row) {
  const Value fingerprint = DigestValue(row.spec.fingerprint);
  absl::StatusOr<std::vector<Reader::Workload>> found =
      FindWorkloads(*connection_, "WHERE fingerprint=?", {fingerprint}, *damaged_);
  if (!found.ok()) return found.status();
  const WallNs now_ns = Now();
  if (!found->empty()) {
    const Reader::Workload& known = found->front();
    if (absl::Status status = CheckSameWorkload(known.row, row); !status.ok()) return status;
    return WriteRow(*connection_, kWorkloadTable, known.id,
                    {fingerprint, known.row.spec.name, known.first_seen_ns, now_ns},
                    WorkloadChildren(known.row));
  }
  absl::StatusOr<int64_t> id =
      IdWhere(*connection_, kWorkloadTable, "fingerprint=?", {fingerprint});
  if (!id.ok()) return id.status();
  absl::Status status =
      WriteRow(*connection_, kWorkloadTable, *id, {fingerprint, row.spec.name, now_ns, now_ns},
               WorkloadChildren(row));
  const auto run = [&](const char* sql, const Row& values) {
    if (status.ok()) status = connection_->Run(sql, values);
  };
  run("DELETE FROM workload_graph WHERE workload=?", {*id});
  run("DELETE FROM decision WHERE workload=?", {*id});  // and its options, by the foreign key
  for (size_t i = 0; i < row.graphs.size(); ++i) {
    run("INSERT INTO workload_graph VALUES(?,?,?)",
        {*id, static_cast<int64_t>(i), DigestValue(row.graphs[i])});
  }
  for (size_t i = 0; i < row.spec.decisions.size(); ++i) {
    const planner::DecisionSpec& decision = row.spec.decisions[i];
    RowWriter out;
    out.Int(*id).Count(i).Digest(decision.id).Text(decision.name).Enumerator(decision.kind);
    out.Count(decision.graph).Count(decision.sites).Int(decision.reorders_sums ? 1 : 0);
    run("INSERT INTO decision VALUES(?,?,?,?,?,?,?,?)", out.Take());
    for (size_t k = 0; k < decision.options.size(); ++k) {
      run("INSERT INTO decision_option VALUES(?,?,?,?)",
          {*id, static_cast<int64_t>(i), static_cast<int64_t>(k), decision.options[k]});
    }
  }
  return status;
}

absl::StatusOr<TuningId> SqliteStore::PutTuning(const TuningKey& key) {
  TuningId id = 0;
  const absl::Status status = Write([&]() -> absl::Status {
    const Row row = EncodeTuning(key);
    absl::StatusOr<std::vector<KeyedRow>> found = ReadUnverified(
        *connection_, kTuningTable,
        "WHERE workload=? AND environment=? AND contract=? AND uid=? AND principal=?", row);
    if (!found.ok()) return found.status();
    if (!found->empty()) {
      id = found->front().key;
      const Row& stored = found->front().row;
      if (stored.back() != Value(Checksum(connection_->store(), id, row))) {
        // Whose evidence hangs on a damaged key cannot be known; opening the store again sorts it
        // out.
        return absl::DataLossError("a tuning's key is damaged");
      }
      return absl::OkStatus();
    }
    absl::StatusOr<int64_t> next = NextId(*connection_, kTuningTable);
    if (!next.ok()) return next.status();
    id = *next;
    return WriteRow(*connection_, kTuningTable, id, row);
  });
  if (!status.ok()) return status;
  return id;
}

absl::StatusOr<uint64_t> SqliteStore::CountTunings(uint32_t uid, TuningId up_to) {
  if (absl::Status status = Usable(); !status.ok()) return status;
  const absl::StatusOr<int64_t> count =
      connection_->QueryInt("SELECT count(*) FROM tuning WHERE uid=? AND id<=?",
                            {static_cast<int64_t>(uid), static_cast<int64_t>(up_to)});
  if (!count.ok()) return count.status();
  return static_cast<uint64_t>(*count);
}

absl::StatusOr<planner::SessionId> SqliteStore::NewSessionId() {
  const absl::Status status = Write([this]() -> absl::Status {
    if (next_session_ > identity_.sessions_reserved) {
      if (absl::Status reserved = ReserveSessions(); !reserved.ok()) return reserved;
    }
    return connection_->Run(
        "INSERT INTO meta(key,value) VALUES('next_session',?) "
        "ON CONFLICT(key) DO UPDATE SET value=excluded.value",
        {static_cast<int64_t>(next_session_ + 1)});
  });
  if (!status.ok()) return status;
  return next_session_++;
}

absl::Status SqliteStore::PutSession(const SessionRow& row) {
  return Write([&] {
    return WriteRow(*connection_, kSessionTable, static_cast<int64_t>(row.id), EncodeSession(row));
  });
}

}  // namespace blazed::storage
