// Every file and folder of a store, named in one place.
#pragma once

#include <string>

namespace blazed::storage {

inline constexpr char kDatabaseFile[] = "blazed.db";
inline constexpr char kLockFile[] = "lock";  // held by the owning daemon; contains its pid
inline constexpr char kIdentityFile[] =
    "identity";  // epoch and reserved session ids, outlives the database
inline constexpr char kBackupFolder[] = "backups";
inline constexpr char kQuarantineFolder[] = "quarantine";
inline constexpr char kBackupPrefix[] = "blazed-";
inline constexpr char kBackupSuffix[] = ".db";
inline constexpr char kChecksumSuffix[] = ".xxh128";

// SQLite's write-ahead log beside a database.
inline std::string LogOf(const std::string& database) { return database + "-wal"; }

// Paths inside the store's folder.
struct StoreNames {
  std::string folder;

  std::string database() const { return folder + "/" + kDatabaseFile; }
  std::string log() const { return LogOf(database()); }
  std::string log_index() const { return database() + "-shm"; }
  std::string lock() const { return folder + "/" + kLockFile; }
  std::string identity() const { return folder + "/" + kIdentityFile; }
  std::string backups() const { return folder + "/" + kBackupFolder; }
  std::string quarantine() const { return folder + "/" + kQuarantineFolder; }
};

}  // namespace blazed::storage
