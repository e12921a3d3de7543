#include "storage/sqlite/backup.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "storage/sqlite/files.h"

namespace blazed::storage {
namespace {

constexpr int kPagesAStep = 1024;
constexpr size_t kQuarantinesKept = 3;

// Sorts by time as text; the ns keep two of one second apart.
constexpr char kStampFormat[] = "%Y-%m-%dT%H-%M-%E9SZ";

std::string Stamp(WallNs now_ns) {
  return absl::FormatTime(kStampFormat, absl::FromUnixNanos(now_ns), absl::UTCTimeZone());
}

std::vector<std::string> NewestFirst(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    paths.push_back(entry->path().string());
  }
  std::sort(paths.rbegin(), paths.rend());
  return paths;
}

absl::Status CopyPages(Connection& source, const std::string& path) {
  if (absl::Status status = MakePrivateFile(path); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Connection>> copy = Connection::Open(path, Access::kReadWrite);
  if (!copy.ok()) return copy.status();
  sqlite3_backup* backup = sqlite3_backup_init((*copy)->handle(), "main", source.handle(), "main");
  if (backup == nullptr) {
    return absl::InternalError(
        absl::StrCat("starting the backup: ", sqlite3_errmsg((*copy)->handle())));
  }
  int code = SQLITE_OK;
  while (code == SQLITE_OK) code = sqlite3_backup_step(backup, kPagesAStep);
  const int finish = sqlite3_backup_finish(backup);
  if (finish != SQLITE_OK) return SqliteStatus(finish, "writing the backup");
  return SqliteStatus(code, "writing the backup");
}

void RemoveBackup(const std::string& path) {
  unlink(path.c_str());
  unlink((path + kChecksumSuffix).c_str());
}

void RemoveOldest(const StoreNames& names, size_t keep) {
  const std::vector<std::string> backups = ListBackups(names);
  for (size_t i = keep; i < backups.size(); ++i) RemoveBackup(backups[i]);
}

absl::Status CheckStructure(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Connection>> copy = Connection::Open(path, Access::kFrozenFile);
  if (!copy.ok()) return copy.status();
  return QuickCheck(**copy);
}

}  // namespace

absl::Status QuickCheck(Connection& connection) {
  absl::StatusOr<std::vector<Row>> rows = connection.Query("PRAGMA quick_check(1)");
  if (!rows.ok()) return rows.status();
  const Row ok = {std::string("ok")};
  if (rows->size() == 1 && rows->front() == ok) return absl::OkStatus();
  std::string found = "no answer";
  if (!rows->empty() && !rows->front().empty()) {
    if (const auto* text = std::get_if<std::string>(&rows->front().front())) found = *text;
  }
  return absl::DataLossError(absl::StrCat("the store's structure is damaged: ", found));
}

std::vector<std::string> ListBackups(const StoreNames& names) {
  std::vector<std::string> backups = NewestFirst(names.backups());
  std::erase_if(backups, [](const std::string& path) {
    const std::string name = std::filesystem::path(path).filename();
    return !absl::StartsWith(name, kBackupPrefix) || !absl::EndsWith(name, kBackupSuffix);
  });
  return backups;
}

absl::Time BackupTime(const std::string& path) {
  absl::string_view name = absl::StripSuffix(path, kBackupSuffix);
  name = name.substr(name.rfind('/') + 1);
  name = absl::StripPrefix(name, kBackupPrefix);
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(kStampFormat, name, absl::UTCTimeZone(), &time, &error)) {
    return absl::InfinitePast();
  }
  return time;
}

absl::StatusOr<std::string> TakeBackup(Connection& connection, const StoreNames& names,
                                       WallNs now_ns, size_t keep) {
  if (absl::Status status = MakeFolder(names.backups()); !status.ok()) return status;
  const std::string path =
      absl::StrCat(names.backups(), "/", kBackupPrefix, Stamp(now_ns), kBackupSuffix);
  const std::string part = path + ".part";
  unlink(part.c_str());  // left by a crash in the middle of a backup
  absl::Status status = CopyPages(connection, part);
  if (status.ok()) status = CheckStructure(part);
  if (status.ok()) status = SyncFile(part);
  absl::StatusOr<std::string> hash = "";
  if (status.ok()) {
    hash = HashFile(part);
    status = hash.status();
  }
  // The hash first: a copy without one does not count, so a crash in between leaves nothing half
  // done.
  if (status.ok()) status = WriteFileAtomically(path + kChecksumSuffix, *hash + "\n");
  if (status.ok()) status = RenameFile(part, path);
  if (status.ok()) status = SyncFolder(names.backups());
  if (!status.ok()) {
    unlink(part.c_str());
    unlink((part + "-wal").c_str());
    unlink((part + "-shm").c_str());
    return absl::Status(status.code(), absl::StrCat("backing up the store: ", status.message()));
  }
  RemoveOldest(names, keep);
  return path;
}

absl::Status VerifyBackup(const std::string& path) {
  const absl::StatusOr<std::string> expected = ReadWholeFile(path + kChecksumSuffix);
  if (!expected.ok()) return absl::DataLossError(absl::StrCat(path, " has no checksum beside it"));
  const absl::StatusOr<std::string> hash = HashFile(path);
  if (!hash.ok()) return hash.status();
  if (absl::StripAsciiWhitespace(*expected) != *hash) {
    return absl::DataLossError(absl::StrCat(path, " does not match its checksum"));
  }
  return CheckStructure(path);
}

absl::Status RestoreBackup(const std::string& path, const StoreNames& names) {
  const std::string part = names.database() + ".restore";
  std::error_code error;
  std::filesystem::copy_file(path, part, std::filesystem::copy_options::overwrite_existing, error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("copying ", path));
  if (absl::Status status = SyncFile(part); !status.ok()) return status;
  if (absl::Status status = RenameFile(part, names.database()); !status.ok()) return status;
  return SyncFolder(names.folder);
}

absl::StatusOr<std::string> MoveToQuarantine(const StoreNames& names, WallNs now_ns,
                                             const std::string& reason) {
  std::string folder = absl::StrCat(names.quarantine(), "/", Stamp(now_ns));
  while (FileExists(folder)) folder += "+";
  if (absl::Status status = MakeFolder(names.quarantine()); !status.ok()) return status;
  if (absl::Status status = MakeFolder(folder); !status.ok()) return status;
  // The log goes first: a database without its log is safe to open, another database with this log
  // is not.
  for (const std::string& path : {names.log(), names.log_index(), names.database()}) {
    if (!FileExists(path)) continue;
    const std::string name = std::filesystem::path(path).filename();
    absl::Status status = RenameFile(path, absl::StrCat(folder, "/", name));
    if (!status.ok()) return status;
  }
  // The reason is for people; the move has done its work without it.
  WriteFileAtomically(folder + "/reason", reason + "\n").IgnoreError();
  if (absl::Status status = SyncFolder(names.folder); !status.ok()) return status;
  const std::vector<std::string> folders = NewestFirst(names.quarantine());
  for (size_t i = kQuarantinesKept; i < folders.size(); ++i) {
    std::error_code error;  // a folder that cannot be removed is tried again at the next quarantine
    std::filesystem::remove_all(folders[i], error);
  }
  return folder;
}

}  // namespace blazed::storage
