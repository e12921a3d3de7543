// What a store needs from the file system.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace blazed::storage {

// FAILED_PRECONDITION for a file system that several machines can write, or could, as behind FUSE:
// SQLite's log index lives in shared memory and its locks do not reach across machines.
absl::Status CheckLocalFileSystem(const std::string& folder);
absl::Status CheckFileSystemType(int64_t statfs_magic, const std::string& folder);

// The folder, with mode 0700, and its parents; one that exists is left as it is.
absl::Status MakeFolder(const std::string& folder);

// FAILED_PRECONDITION where somebody else could write the store: the folder, or the link to it,
// belongs to another user, or others than its owner may write it.
absl::Status CheckOwnFolder(const std::string& folder);

// Makes the file, empty, where there is none; only its owner may read it from here on. For a file
// that no connection has open, as below.
absl::Status MakePrivateFile(const std::string& path);

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Temporary file, fsync, rename, fsync of the folder: after a crash the file is whole, either way.
absl::Status WriteFileAtomically(const std::string& path, const std::string& content);

absl::Status SyncFile(const std::string& path);
absl::Status SyncFolder(const std::string& folder);
absl::Status RenameFile(const std::string& from, const std::string& to);
bool FileExists(const std::string& path);

// xxh3-128 of a file's bytes as hex. Never of a file that a connection has open: closing it drops
// SQLite's locks.
absl::StatusOr<std::string> HashFile(const std::string& path);

}  // namespace blazed::storage
