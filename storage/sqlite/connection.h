// One SQLite connection: opens, runs cached statements, maps result codes to statuses. Used by one
// thread at a time.
//
// Errors: RESOURCE_EXHAUSTED disk or page limit full; DATA_LOSS damage; UNAVAILABLE busy or an I/O
// error; DEADLINE_EXCEEDED past the time budget; INVALID_ARGUMENT a row that breaks a constraint;
// INTERNAL anything else.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/sqlite/value.h"

namespace blazed::storage {

inline constexpr absl::Duration kBusyTimeout = absl::Seconds(5);

enum class Access {
  kReadWrite,   // creates the file
  kReadOnly,    // cannot checkpoint
  kFrozenFile,  // nobody writes the file; touches no -wal or -shm beside it
};

class Connection {
 public:
  // `vfs` names a registered VFS, empty for the default one.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& path, Access access,
                                                          const std::string& vfs = "");
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Any number of statements without parameters; rows are ignored.
  absl::Status Execute(const std::string& sql);

  // One statement, kept prepared for the next call.
  absl::Status Run(const std::string& sql, const Row& parameters = {});
  absl::StatusOr<std::vector<Row>> Query(const std::string& sql, const Row& parameters = {});
  // The first column of the only row.
  absl::StatusOr<int64_t> QueryInt(const std::string& sql, const Row& parameters = {});

  // Statements that run past the deadline end with DEADLINE_EXCEEDED.
  void SetDeadline(absl::Time deadline) { deadline_ = deadline; }

  // How long a statement waits for another connection's lock; kBusyTimeout at first.
  void SetBusyTimeout(absl::Duration timeout) {
    sqlite3_busy_timeout(db_, static_cast<int>(absl::ToInt64Milliseconds(timeout)));
  }

  // The number of the store that rows belong to; part of every checksum.
  void SetStore(int64_t store) { store_ = store; }
  int64_t store() const { return store_; }

  int64_t changes() const { return sqlite3_changes64(db_); }
  sqlite3* handle() const { return db_; }

 private:
  Connection() = default;
  absl::StatusOr<sqlite3_stmt*> Prepared(const std::string& sql);
  absl::Status Bind(sqlite3_stmt* statement, const Row& parameters);
  absl::Status Fail(int code, const char* doing) const;
  static int OnProgress(void* self);

  sqlite3* db_ = nullptr;
  int64_t store_ = 0;
  absl::Time deadline_ = absl::InfiniteFuture();
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
};

// The status of a SQLite result code; OK for SQLITE_OK, SQLITE_ROW and SQLITE_DONE.
absl::Status SqliteStatus(int extended_code, const std::string& text);

}  // namespace blazed::storage
