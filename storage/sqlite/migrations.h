// The schema, step by step. The files of storage/migrations are built in, in order of their
// numbers; the version of a store (`PRAGMA user_version`) is the number of steps it has taken. A
// released step never changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/sqlite/connection.h"

namespace blazed::storage {

// "blzd" in SQLite's header: what kind of file it is.
inline constexpr int64_t kApplicationId = 0x626c7a64;

const std::vector<std::string>& Migrations();

// The version, cross-checked with the copy that the database keeps in a row: a damaged header is no
// version. 0 for an empty file. DATA_LOSS for a foreign or inconsistent file.
absl::StatusOr<int64_t> SchemaVersion(Connection& connection);

// Takes the steps that are missing, each in one synced transaction; `before` runs once ahead of the
// first step of a store that has data. FAILED_PRECONDITION for a version beyond the last step.
absl::Status Migrate(Connection& connection, const std::vector<std::string>& steps,
                     const std::function<absl::Status()>& before);

// DATA_LOSS where the tables are not exactly those that `steps` make.
absl::Status CheckSchema(Connection& connection, const std::vector<std::string>& steps);

}  // namespace blazed::storage
