#include "storage/sqlite/migrations.h"

#include "absl/strings/str_cat.h"

namespace blazed::storage {
namespace {

constexpr char kSchemaRows[] =
    "SELECT type,name,tbl_name,sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' "
    "ORDER BY type,name";

absl::Status TakeStep(Connection& connection, const std::string& step, int64_t version) {
  std::string sql = "BEGIN IMMEDIATE;";
  absl::StrAppend(&sql, step, "\nINSERT INTO meta(key,value) VALUES('schema',", version,
                  ") ON CONFLICT(key) DO UPDATE SET value=excluded.value;",
                  "PRAGMA application_id=", kApplicationId, ";PRAGMA user_version=", version,
                  ";COMMIT;");
  absl::Status status = connection.Execute(sql);
  if (!status.ok()) {
    // Nothing to undo where SQLite has rolled back by itself.
    connection.Execute("ROLLBACK").IgnoreError();
    return absl::Status(status.code(), absl::StrCat("migrating the store to version ", version,
                                                    ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> SchemaVersion(Connection& connection) {
  absl::StatusOr<int64_t> tables = connection.QueryInt("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  absl::StatusOr<int64_t> version = connection.QueryInt("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*tables == 0) {
    if (*version != 0) return absl::DataLossError("the store has a version but no tables");
    return 0;
  }
  absl::StatusOr<int64_t> application = connection.QueryInt("PRAGMA application_id");
  if (!application.ok()) return application.status();
  if (*application != kApplicationId) {
    return absl::DataLossError("the file is a database of another program");
  }
  absl::StatusOr<int64_t> copy = connection.QueryInt("SELECT value FROM meta WHERE key='schema'");
  if (!copy.ok()) return copy.status();
  if (*copy != *version || *version < 1) {
    return absl::DataLossError("the store's version in its header and in its rows differ");
  }
  return *version;
}

absl::Status Migrate(Connection& connection, const std::vector<std::string>& steps,
                     const std::function<absl::Status()>& before) {
  const absl::StatusOr<int64_t> version = SchemaVersion(connection);
  if (!version.ok()) return version.status();
  const auto last = static_cast<int64_t>(steps.size());
  if (*version > last) {
    return absl::FailedPreconditionError(
        absl::StrCat("the store has schema version ", *version, ", this blazed knows up to ", last,
                     ": run the newer blazed or restore a backup made before the upgrade"));
  }
  if (*version > 0 && *version < last) {
    if (absl::Status status = before(); !status.ok()) return status;
  }
  for (int64_t next = *version + 1; next <= last; ++next) {
    absl::Status status = TakeStep(connection, steps[static_cast<size_t>(next - 1)], next);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckSchema(Connection& connection, const std::vector<std::string>& steps) {
  absl::StatusOr<std::unique_ptr<Connection>> model =
      Connection::Open(":memory:", Access::kReadWrite);
  if (!model.ok()) return model.status();
  for (const std::string& step : steps) {
    if (absl::Status status = (*model)->Execute(step); !status.ok()) return status;
  }
  absl::StatusOr<std::vector<Row>> expected = (*model)->Query(kSchemaRows);
  if (!expected.ok()) return expected.status();
  absl::StatusOr<std::vector<Row>> found = connection.Query(kSchemaRows);
  if (!found.ok()) return found.status();
  if (*found != *expected) {
    return absl::DataLossError("the store's tables are not those of its version");
  }
  return absl::OkStatus();
}

}  // namespace blazed::storage
