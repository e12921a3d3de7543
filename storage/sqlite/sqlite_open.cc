// Opening a store: owner, file system, damage, version, epoch, in this order.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/files.h"
#include "storage/sqlite/migrations.h"
#include "storage/sqlite/queries.h"
#include "storage/sqlite/sqlite_store.h"

namespace blazed::storage {
namespace {

constexpr int64_t kLogBytesKept = 4 << 20;  // length a log file is cut back to after a checkpoint
constexpr int64_t kPageBytes = 4096;        // SQLite's default page

enum class Expected { kWhatWasStored, kNothing };

struct Opened {
  std::unique_ptr<Connection> connection;
  int64_t migrated_from = 0;
};

absl::Status SetUp(Connection& connection, const SqliteOptions& options) {
  std::string sql = absl::StrCat(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0;"
      "PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
      "PRAGMA journal_size_limit=",
      kLogBytesKept, ";");
  if (options.max_bytes > 0) {
    absl::StrAppend(
        &sql, "PRAGMA max_page_count=", std::max<uint64_t>(1, options.max_bytes / kPageBytes), ";");
  }
  return connection.Execute(sql);
}

// Beyond structure: that keys and their indexes agree, so that no settlement is found under
// another's key.
absl::Status CheckKeys(Connection& connection) {
  const Row ok = {std::string("ok")};
  for (const char* table : {"tuning", "settlement", "plan", "workload"}) {
    absl::StatusOr<std::vector<Row>> found =
        connection.Query(absl::StrCat("PRAGMA integrity_check('", table, "')"));
    if (!found.ok()) return found.status();
    if (found->size() != 1 || found->front() != ok) {
      return absl::DataLossError(absl::StrCat("the index of the table ", table, " is damaged"));
    }
  }
  DamageCount damaged{0};
  absl::StatusOr<std::vector<KeyedRow>> tunings =
      ReadRows(connection, kTuningTable, "NOT INDEXED", {}, damaged);
  if (!tunings.ok()) return tunings.status();
  if (damaged > 0) return absl::DataLossError("a tuning's key is damaged");
  return absl::OkStatus();
}

int64_t RandomNumber() {
  std::random_device device;
  const uint64_t bits = (static_cast<uint64_t>(device()) << 32) | device();
  return static_cast<int64_t>(bits >> 1) | 1;  // positive, and never the 0 of "unknown"
}

// Ties the connection to the store's number, which database and identity file both hold: a log or a
// file of another store, however sound, has another one.
absl::Status Claim(Connection& db, const StoreNames& names) {
  const auto number = [&db](const char* key) {
    return db.QueryInt("SELECT coalesce(max(value),0) FROM meta WHERE key=?", {std::string(key)});
  };
  Identity identity = ReadIdentity(names.identity());
  const absl::StatusOr<int64_t> store = number("store");
  if (!store.ok()) return store.status();
  const absl::StatusOr<int64_t> epoch = number("epoch");
  if (!epoch.ok()) return epoch.status();
  if (*store == 0 && *epoch > 0) return absl::DataLossError("the database lacks its number");
  if (*store == 0) {  // just made, perhaps by a daemon that did not get this far
    identity.store = RandomNumber();
    if (absl::Status status = WriteIdentity(names.identity(), identity); !status.ok()) {
      return status;
    }
    db.SetStore(identity.store);
    return db.Run("INSERT INTO meta(key,value) VALUES('store',?)", {identity.store});
  }
  if (identity.store != 0 && identity.store != *store) {
    return absl::DataLossError("the database or its log belongs to another store");
  }
  db.SetStore(*store);
  return absl::OkStatus();
}

absl::StatusOr<Opened> TryOpen(const SqliteOptions& options, const StoreNames& names, WallNs now_ns,
                               Expected expected) {
  Opened opened;
  if (absl::Status status = MakePrivateFile(names.database()); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Connection>> connection =
      Connection::Open(names.database(), Access::kReadWrite, options.vfs);
  if (!connection.ok()) return connection.status();
  opened.connection = *std::move(connection);
  Connection& db = *opened.connection;
  const absl::StatusOr<int64_t> version = SchemaVersion(db);
  if (!version.ok()) return version.status();
  if (*version == 0 && expected == Expected::kWhatWasStored &&
      ReadIdentity(names.identity()).epoch > 0) {
    return absl::DataLossError("the database is empty although this store was used before");
  }
  if (absl::Status status = SetUp(db, options); !status.ok()) return status;
  if (absl::Status status = QuickCheck(db); !status.ok()) return status;
  const auto keep_copy = [&]() -> absl::Status {
    opened.migrated_from = *version;
    return TakeBackup(db, names, now_ns, options.backups_kept).status();
  };
  if (absl::Status status = db.Execute("PRAGMA synchronous=FULL"); !status.ok()) return status;
  if (absl::Status status = Migrate(db, Migrations(), keep_copy); !status.ok()) return status;
  if (absl::Status status = Claim(db, names); !status.ok()) return status;
  if (absl::Status status = db.Execute("PRAGMA synchronous=NORMAL"); !status.ok()) return status;
  if (absl::Status status = CheckSchema(db, Migrations()); !status.ok()) return status;
  if (absl::Status status = CheckKeys(db); !status.ok()) return status;
  return opened;
}

// Damage, as opposed to a full disk, another owner or a version from the future. SQLite answers
// "read-only" and plain errors too for headers and schemas that make no sense; permissions are
// checked before.
bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsInternal(status) || absl::IsInvalidArgument(status);
}

absl::Status CheckPermissions(const StoreNames& names) {
  for (const std::string& path : {names.database(), names.log()}) {
    if (FileExists(path) && access(path.c_str(), R_OK | W_OK) != 0) {
      return absl::ErrnoToStatus(
          errno,
          absl::StrCat("the daemon cannot read and write ", path,
                       ": give it to the daemon's user or name another folder with --state"));
    }
  }
  return absl::OkStatus();
}

// SQLite would make its files as readable as the daemon's umask lets it; log and index take after
// the database. Those that an earlier version made are closed here; copies lie in folders of mode
// 0700.
absl::Status ClosePrivate(const StoreNames& names) {
  for (const std::string& path : {names.database(), names.log(), names.log_index()}) {
    if (!FileExists(path)) continue;
    if (absl::Status status = MakePrivateFile(path); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Puts the damaged files aside and tries the backups, newest first, then an empty store.
absl::StatusOr<Opened> Recover(const SqliteOptions& options, const StoreNames& names, WallNs now_ns,
                               const absl::Status& damage, OpenReport& report) {
  absl::StatusOr<std::string> quarantine =
      MoveToQuarantine(names, now_ns, std::string(damage.message()));
  if (!quarantine.ok()) return quarantine.status();
  report.quarantine = *quarantine;
  for (const std::string& backup : ListBackups(names)) {
    if (!VerifyBackup(backup).ok()) continue;
    if (absl::Status status = RestoreBackup(backup, names); !status.ok()) return status;
    absl::StatusOr<Opened> opened = TryOpen(options, names, now_ns, Expected::kWhatWasStored);
    if (opened.ok()) {
      report.state = OpenReport::State::kRestored;
      report.restored_from = backup;
      report.detail = absl::StrCat(damage.message(), "; the damaged files are in ", *quarantine,
                                   ", the backup ", backup, " is in their place");
      return opened;
    }
    if (!IsDamage(opened.status())) return opened.status();
    absl::StatusOr<std::string> moved =
        MoveToQuarantine(names, now_ns, std::string(opened.status().message()));
    if (!moved.ok()) return moved.status();
  }
  report.state = OpenReport::State::kFresh;
  report.detail = absl::StrCat(damage.message(), "; the damaged files are in ", *quarantine,
                               ", no backup was good, so the store begins empty");
  return TryOpen(options, names, now_ns, Expected::kNothing);
}

int CountLogPages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const SqliteOptions& options,
                                                               OpenReport* report) {
  OpenReport found;
  const StoreNames names{options.folder};
  if (absl::Status status = MakeFolder(names.folder); !status.ok()) return status;
  if (absl::Status status = CheckLocalFileSystem(names.folder); !status.ok()) return status;
  if (absl::Status status = CheckOwnFolder(names.folder); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<LockFile>> lock = LockFile::Take(names.lock());
  if (!lock.ok()) return lock.status();
  if (absl::Status status = CheckPermissions(names); !status.ok()) return status;
  if (absl::Status status = ClosePrivate(names); !status.ok()) return status;
  const WallNs now_ns = options.clock ? options.clock() : absl::GetCurrentTimeNanos();
  absl::StatusOr<Opened> opened = TryOpen(options, names, now_ns, Expected::kWhatWasStored);
  if (!opened.ok() && IsDamage(opened.status())) {
    opened = Recover(options, names, now_ns, opened.status(), found);
  }
  if (!opened.ok()) {
    return absl::Status(opened.status().code(), absl::StrCat("opening the store in ", names.folder,
                                                             ": ", opened.status().message()));
  }
  found.migrated_from = opened->migrated_from;
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(options, *std::move(lock), std::move(opened->connection)));
  if (absl::Status status = store->StartEpoch(found.state); !status.ok()) return status;
  if (report != nullptr) *report = found;
  return store;
}

SqliteStore::SqliteStore(const SqliteOptions& options, std::unique_ptr<LockFile> lock,
                         std::unique_ptr<Connection> connection)
    : options_(options),
      names_{options.folder},
      lock_(std::move(lock)),
      connection_(std::move(connection)),
      damaged_(std::make_shared<std::atomic<uint64_t>>(0)) {
  sqlite3_wal_hook(connection_->handle(), &CountLogPages, &log_pages_);
}

SqliteStore::~SqliteStore() = default;

absl::Status SqliteStore::StartEpoch(OpenReport::State state) {
  const auto number = [this](const std::string& sql) -> absl::StatusOr<uint64_t> {
    absl::StatusOr<int64_t> value = connection_->QueryInt(sql);
    if (!value.ok()) return value.status();
    return static_cast<uint64_t>(std::max<int64_t>(*value, 0));
  };
  const absl::StatusOr<uint64_t> stored_epoch =
      number("SELECT coalesce(max(value),0) FROM meta WHERE key='epoch'");
  if (!stored_epoch.ok()) return stored_epoch.status();
  const absl::StatusOr<uint64_t> next_session =
      number("SELECT coalesce(max(value),1) FROM meta WHERE key='next_session'");
  if (!next_session.ok()) return next_session.status();
  const absl::StatusOr<uint64_t> greatest = number("SELECT coalesce(max(id),0) FROM session");
  if (!greatest.ok()) return greatest.status();
  identity_ = ReadIdentity(names_.identity());
  identity_.store = connection_->store();
  next_session_ = std::max(*next_session, *greatest + 1);
  if (state != OpenReport::State::kOk || identity_.epoch > *stored_epoch) {
    // The database is a backup or begins anew: ids up to the reserved one may be in some process's
    // memory.
    next_session_ = std::max(next_session_, identity_.sessions_reserved + 1);
  }
  epoch_ = std::max(*stored_epoch, identity_.epoch) + 1;
  if (absl::Status status = ReserveSessions(); !status.ok()) return status;
  if (absl::Status status = Begin(); !status.ok()) return status;
  absl::Status status = Write([this] {
    return connection_->Run(
        "INSERT INTO meta(key,value) VALUES('epoch',?) "
        "ON CONFLICT(key) DO UPDATE SET value=excluded.value",
        {static_cast<int64_t>(epoch_)});
  });
  if (!status.ok()) return status;
  return Commit(Durability::kSynced);
}

absl::Status SqliteStore::ReserveSessions() {
  constexpr uint64_t kReserve =
      1000;  // so many sessions cost one synced write of the identity file
  Identity reserved = identity_;
  reserved.epoch = epoch_;
  reserved.sessions_reserved = next_session_ + kReserve;
  // Ids that the file does not hold back are not given out, also where the write is tried again.
  const absl::Status written = WriteIdentity(names_.identity(), reserved);
  if (absl::IsResourceExhausted(written)) return written;
  // As for a row that the disk does not take.
  if (!written.ok()) return absl::UnavailableError(written.message());
  identity_ = reserved;
  return absl::OkStatus();
}

}  // namespace blazed::storage
