#include "storage/sqlite/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "xxhash.h"

namespace blazed::storage {
namespace {

struct RemoteType {
  int64_t magic;
  const char* name;
};

// Magic numbers of statfs(2) and of linux/magic.h.
constexpr std::array<RemoteType, 13> kRemoteTypes = {{{0x6969, "NFS"},
                                                      {0x517B, "SMB"},
                                                      {0xFF534D42, "CIFS"},
                                                      {0xFE534D42, "SMB2"},
                                                      {0x5346414F, "AFS"},
                                                      {0x73757245, "Coda"},
                                                      {0x564c, "NCP"},
                                                      {0x01021997, "9P"},
                                                      {0x0BD00BD0, "Lustre"},
                                                      {0x47504653, "GPFS"},
                                                      {0x00c36400, "Ceph"},
                                                      {0x7461636f, "OCFS2"},
                                                      {0x19830326, "BeeGFS"}}};

// sshfs, GlusterFS, object stores and virtiofs all look like this; which one it is nobody tells.
constexpr int64_t kFuse = 0x65735546;

// statfs fills a signed word on some machines, so only 32 bits are compared.
bool IsType(int64_t statfs_magic, int64_t type) {
  return static_cast<uint32_t>(statfs_magic) == static_cast<uint32_t>(type);
}

absl::Status Unfit(const std::string& folder, const std::string& place) {
  return absl::FailedPreconditionError(absl::StrCat("the store's folder ", folder, " is on ", place,
                                                    ": name a local folder with --state"));
}

bool IsFull(int error) { return error == ENOSPC || error == EDQUOT; }

// RESOURCE_EXHAUSTED is a full disk and nothing else (store.h): what is said of it is to free
// space, which helps nobody who lacks descriptors or memory.
absl::Status FileError(int error, const std::string& doing, const std::string& path) {
  absl::Status status = absl::ErrnoToStatus(error, absl::StrCat(doing, " ", path));
  if (!absl::IsResourceExhausted(status) || IsFull(error)) return status;
  return absl::UnavailableError(absl::StrCat(status.message(), ": try again"));
}

absl::Status SyncPath(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError(errno, "opening", path);
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  if (result != 0) return FileError(error, "syncing", path);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFileSystemType(int64_t statfs_magic, const std::string& folder) {
  for (const RemoteType& type : kRemoteTypes) {
    if (IsType(statfs_magic, type.magic)) {
      return Unfit(folder, absl::StrCat("a network file system (", type.name, ")"));
    }
  }
  if (IsType(statfs_magic, kFuse)) {
    return Unfit(folder, "a FUSE file system, which other machines may share");
  }
  return absl::OkStatus();
}

absl::Status CheckLocalFileSystem(const std::string& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return FileError(errno, "looking at", folder);
  return CheckFileSystemType(static_cast<int64_t>(facts.f_type), folder);
}

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return absl::OkStatus();
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot make the folder ", folder, ": ",
                     error ? error.message() : "something else is in its place",
                     "; name another one with --state"));
  }
  if (chmod(folder.c_str(), 0700) != 0) return FileError(errno, "setting the mode of", folder);
  return absl::OkStatus();
}

absl::Status CheckOwnFolder(const std::string& folder) {
  struct stat link {};
  struct stat facts {};
  if (lstat(folder.c_str(), &link) != 0 || stat(folder.c_str(), &facts) != 0) {
    return FileError(errno, "looking at", folder);
  }
  // A link of root's is as good as the folder, as where systemd puts StateDirectory= elsewhere.
  const bool own_link = link.st_uid == geteuid() || (S_ISLNK(link.st_mode) && link.st_uid == 0);
  if (facts.st_uid != geteuid() || !own_link) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the store's folder ", folder, " belongs to user ", own_link ? facts.st_uid : link.st_uid,
        " and the daemon runs as user ", geteuid(),
        ": give it to the daemon's user or name another folder with --state"));
  }
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the store's folder ", folder,
                     " can be written by others, who could put another store in its place: chmod "
                     "it to 0700 or name another folder with --state"));
  }
  return absl::OkStatus();
}

absl::Status MakePrivateFile(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd < 0 && IsFull(errno)) return FileError(errno, "making", path);
  if (fd >= 0 && fchmod(fd, 0600) == 0) {
    close(fd);
    return absl::OkStatus();
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  return absl::FailedPreconditionError(
      absl::StrCat("cannot make ", path, " a file of the daemon's own: ", strerror(error),
                   "; give it to the daemon's user or name another folder with --state"));
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

absl::Status WriteFileAtomically(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".part";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return FileError(errno, "making", temporary);
  size_t written = 0;
  int error = 0;
  while (error == 0 && written < content.size()) {
    const ssize_t count = write(fd, content.data() + written, content.size() - written);
    if (count > 0) {
      written += static_cast<size_t>(count);
    } else if (count < 0 && errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && fsync(fd) != 0) error = errno;
  close(fd);
  if (error != 0) {
    unlink(temporary.c_str());
    return FileError(error, "writing", temporary);
  }
  if (absl::Status status = RenameFile(temporary, path); !status.ok()) return status;
  return SyncFolder(std::filesystem::path(path).parent_path());
}

absl::Status SyncFile(const std::string& path) { return SyncPath(path, 0); }

absl::Status SyncFolder(const std::string& folder) { return SyncPath(folder, O_DIRECTORY); }

absl::Status RenameFile(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return FileError(errno, "renaming", from);
  return absl::OkStatus();
}

bool FileExists(const std::string& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0;
}

absl::StatusOr<std::string> HashFile(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rbe"), &fclose);
  if (file == nullptr) return FileError(errno, "reading", path);
  XXH3_state_t* state = XXH3_createState();
  const auto free_state = absl::MakeCleanup([state] { XXH3_freeState(state); });
  XXH3_128bits_reset(state);
  std::array<char, 65536> buffer;
  size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    XXH3_128bits_update(state, buffer.data(), count);
  }
  if (ferror(file.get()) != 0) return FileError(EIO, "reading", path);
  const XXH128_hash_t hash = XXH3_128bits_digest(state);
  return absl::StrFormat("%016x%016x", hash.high64, hash.low64);
}

}  // namespace blazed::storage
