#include "storage/sqlite/connection.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "storage/answers.h"

namespace blazed::storage {
namespace {

constexpr int kProgressInstructions = 1000;  // about 10 µs between looks at the deadline

Value ColumnValue(sqlite3_stmt* statement, int column) {
  const auto bytes = [&](const void* data) {
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return bytes(sqlite3_column_text(statement, column));
    case SQLITE_BLOB:
      return Blob{bytes(sqlite3_column_blob(statement, column))};
    default:
      return std::monostate{};
  }
}

int BindValue(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, index, *real);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<Blob>(&value)) {
    return sqlite3_bind_blob64(statement, index, blob->bytes.data(), blob->bytes.size(),
                               SQLITE_TRANSIENT);
  }
  return sqlite3_bind_null(statement, index);
}

}  // namespace

absl::Status SqliteStatus(int extended_code, const std::string& text) {
  switch (extended_code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return absl::OkStatus();
    case SQLITE_FULL:  // whatever was being done: jobs are told this as it is
      return absl::ResourceExhaustedError(
          "the disk or the store's size limit is full: free some space or raise limits.store_mib");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(absl::StrCat(text, ": the store is damaged"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(absl::StrCat(text, ": try again"));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::UnavailableError(
          absl::StrCat(text, ": check the disk and the permissions of the store's folder"));
    case SQLITE_INTERRUPT:
      return absl::DeadlineExceededError(
          "the query took longer than its time budget: ask for fewer rows or for one workload");
    case SQLITE_NOMEM:
      return absl::UnavailableError(absl::StrCat(text, ": out of memory, try again"));
    case SQLITE_CONSTRAINT:
      if (extended_code == SQLITE_CONSTRAINT_FOREIGNKEY) {
        return ParentNotStored();
      }
      return absl::InvalidArgumentError(absl::StrCat(text, ": a value is out of its range"));
    default:
      return absl::InternalError(text);
  }
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const std::string& path, Access access,
                                                             const std::string& vfs) {
  std::unique_ptr<Connection> connection(new Connection());
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  std::string name = path;
  if (access == Access::kReadWrite) {
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  } else {
    flags |= SQLITE_OPEN_READONLY;
  }
  if (access == Access::kFrozenFile) {
    flags |= SQLITE_OPEN_URI;
    const std::string escaped =
        absl::StrReplaceAll(path, {{"%", "%25"}, {"?", "%3f"}, {"#", "%23"}});
    name = absl::StrCat("file:", escaped, "?immutable=1");
  }
  const int code =
      sqlite3_open_v2(name.c_str(), &connection->db_, flags, vfs.empty() ? nullptr : vfs.c_str());
  if (code != SQLITE_OK) return connection->Fail(code, "opening the store");
  connection->SetBusyTimeout(kBusyTimeout);
  // A damaged or foreign schema must not be able to run anything of its own.
  sqlite3_db_config(connection->db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection->db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_progress_handler(connection->db_, kProgressInstructions, &Connection::OnProgress,
                           connection.get());
  return connection;
}

Connection::~Connection() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  // Every statement is finalized, so nothing keeps the connection open.
  sqlite3_close(db_);
}

int Connection::OnProgress(void* self) {
  const auto* connection = static_cast<Connection*>(self);
  if (connection->deadline_ == absl::InfiniteFuture()) return 0;
  return absl::Now() > connection->deadline_ ? 1 : 0;
}

absl::Status Connection::Fail(int code, const char* doing) const {
  const char* text = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
  const int extended = db_ == nullptr ? code : sqlite3_extended_errcode(db_);
  return SqliteStatus(extended == SQLITE_OK ? code : extended, absl::StrCat(doing, ": ", text));
}

absl::Status Connection::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Fail(code, "running a statement");
  return absl::OkStatus();
}

absl::StatusOr<sqlite3_stmt*> Connection::Prepared(const std::string& sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Fail(code, "preparing a statement");
  statements_.emplace(sql, statement);
  return statement;
}

absl::Status Connection::Bind(sqlite3_stmt* statement, const Row& parameters) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const int code = BindValue(statement, static_cast<int>(i) + 1, parameters[i]);
    if (code != SQLITE_OK) return Fail(code, "binding a value");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Row>> Connection::Query(const std::string& sql, const Row& parameters) {
  absl::StatusOr<sqlite3_stmt*> prepared = Prepared(sql);
  if (!prepared.ok()) return prepared.status();
  sqlite3_stmt* statement = *prepared;
  std::vector<Row> rows;
  absl::Status status = Bind(statement, parameters);
  while (status.ok()) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) {
      status = Fail(code, "reading or writing the store");
      break;
    }
    const int columns = sqlite3_column_count(statement);
    Row row;
    row.reserve(static_cast<size_t>(columns));
    for (int i = 0; i < columns; ++i) row.push_back(ColumnValue(statement, i));
    rows.push_back(std::move(row));
  }
  // The error of the step was taken above; reset only repeats it.
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  if (!status.ok()) return status;
  return rows;
}

absl::Status Connection::Run(const std::string& sql, const Row& parameters) {
  return Query(sql, parameters).status();
}

absl::StatusOr<int64_t> Connection::QueryInt(const std::string& sql, const Row& parameters) {
  absl::StatusOr<std::vector<Row>> rows = Query(sql, parameters);
  if (!rows.ok()) return rows.status();
  if (rows->size() != 1 || rows->front().empty()) {
    return absl::DataLossError("the store lacks a number it must have");
  }
  const auto* number = std::get_if<int64_t>(&rows->front().front());
  if (number == nullptr) return absl::DataLossError("the store lacks a number it must have");
  return *number;
}

}  // namespace blazed::storage
