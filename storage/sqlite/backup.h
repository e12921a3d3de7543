// Verified copies of the database: taken online, rotated, restored when the database is damaged.
// Each copy has its xxh3-128 beside it; one without a matching hash is never restored.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "storage/names.h"
#include "storage/records.h"
#include "storage/sqlite/connection.h"

namespace blazed::storage {

// Copies through `connection`, checks the copy, keeps the newest `keep`. Returns its path.
absl::StatusOr<std::string> TakeBackup(Connection& connection, const StoreNames& names,
                                       WallNs now_ns, size_t keep);

// Newest first; only names, nothing is verified.
std::vector<std::string> ListBackups(const StoreNames& names);

// From its name; InfinitePast where the name holds no time.
absl::Time BackupTime(const std::string& path);

// OK where hash and structure are right.
absl::Status VerifyBackup(const std::string& path);

// Puts a verified copy in the database's place, which must be free.
absl::Status RestoreBackup(const std::string& path, const StoreNames& names);

// Moves database, log and log index together into a folder of their own, with the reason; keeps the
// newest three.
absl::StatusOr<std::string> MoveToQuarantine(const StoreNames& names, WallNs now_ns,
                                             const std::string& reason);

// DATA_LOSS where SQLite's own check finds damage.
absl::Status QuickCheck(Connection& connection);

}  // namespace blazed::storage
