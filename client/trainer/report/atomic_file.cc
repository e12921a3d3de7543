#include "client/trainer/report/atomic_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace blazed::trainer {
namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit

// Where the bytes of a report go.
struct Place {
  enum class Kind {
    kFile,    // regular or absent: replaced whole
    kStream,  // a node that must stay what it is: written into
  };
  Kind kind = Kind::kFile;
  std::string path;  // of a file: behind all links
};

absl::Status Refused(const std::string& path, absl::string_view why) {
  return absl::UnavailableError(
      absl::StrCat("cannot write ", path, ": ", why, "; name a writable place with --report"));
}

absl::Status CannotWrite(const std::string& path, int error) {
  // What the kernel answers where a FIFO has no reader reads like something else.
  return Refused(path, error == ENXIO ? "nobody reads it" : std::strerror(error));
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Links below /proc lead to what a descriptor has open, whatever their text says.
bool LiesInProc(const std::string& path) {
  struct statfs info = {};
  return statfs(FolderOf(path).c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

absl::StatusOr<Place> PlaceOf(const std::string& path, const std::string& at, mode_t mode) {
  if (S_ISREG(mode)) return Place{Place::Kind::kFile, at};
  if (S_ISCHR(mode) || S_ISFIFO(mode)) return Place{Place::Kind::kStream, at};
  if (S_ISDIR(mode)) return CannotWrite(path, EISDIR);
  return Refused(path, S_ISBLK(mode) ? "it is a block device" : "it is a socket");
}

absl::StatusOr<Place> FindPlace(const std::string& path) {
  struct stat info = {};
  // By the kernel first: it alone knows which links may not be followed.
  if (stat(path.c_str(), &info) != 0 && errno != ENOENT) return CannotWrite(path, errno);
  std::string at = path;
  for (int hop = 0; hop < kMostLinks; ++hop) {
    if (lstat(at.c_str(), &info) != 0) {
      if (errno == ENOENT) return Place{Place::Kind::kFile, at};
      return CannotWrite(path, errno);
    }
    if (!S_ISLNK(info.st_mode)) return PlaceOf(path, at, info.st_mode);
    if (LiesInProc(at)) return Place{Place::Kind::kStream, at};
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) return CannotWrite(path, error.value());
    at = (std::filesystem::path(FolderOf(at)) / target).string();
  }
  return CannotWrite(path, ELOOP);
}

bool WriteAll(int fd, absl::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(fd, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd waiting = {fd, POLLOUT, 0};
      poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Asked of the kernel's files: umask() tells only by setting another, which other threads would
// use.
mode_t ProcessMask() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (absl::StartsWith(line, "Umask:")) {
      return static_cast<mode_t>(std::strtoul(line.c_str() + sizeof("Umask:") - 1, nullptr, 8));
    }
  }
  return 077;
}

// Owner and mode that a plain open() would have left: those of the file there, else the usual ones.
// mkstemp alone leaves a report that only this user can read. As far as the system lets: only root
// may give files away, not every file system keeps rights, and no report is lost over them. The
// mode goes first, since what belongs to another may be no longer this process's to change.
void TakeRightsOf(int fd, const std::string& path) {
  struct stat there = {};
  if (stat(path.c_str(), &there) != 0) {
    (void)fchmod(fd, 0666 & ~ProcessMask());
    return;
  }
  (void)fchmod(fd, there.st_mode & 0777);
  (void)!fchown(fd, there.st_uid, there.st_gid);
}

// The rename itself must survive a power cut.
void SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

// The output or error stream of this process where `path` is the same: a second opening would start
// at the front of a file, and a socket cannot be opened at all. -1 where it is another.
int OwnStream(const std::string& path) {
  struct stat wanted = {};
  if (stat(path.c_str(), &wanted) != 0) return -1;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own = {};
    if (fstat(fd, &own) != 0 || own.st_dev != wanted.st_dev || own.st_ino != wanted.st_ino) {
      continue;
    }
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY) return fd;
  }
  return -1;
}

int OpenStream(const std::string& path) {
  if (const int own = OwnStream(path); own >= 0) return fcntl(own, F_DUPFD_CLOEXEC, 0);
  // Non-blocking only while it is opened, so that a FIFO without a reader is an error.
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

absl::Status WriteInto(const std::string& path, absl::string_view content) {
  const int fd = OpenStream(path);
  if (fd < 0) return CannotWrite(path, errno);
  int error = WriteAll(fd, content) ? 0 : errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? absl::OkStatus() : CannotWrite(path, error);
}

absl::Status Replace(const std::string& path, absl::string_view content) {
  // Not the report's name and more: that may be as long as a name can be.
  std::string temporary = absl::StrCat(FolderOf(path), "/.blazed-XXXXXX");
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return CannotWrite(path, errno);
  int error = WriteAll(fd, content) ? 0 : errno;
  if (error == 0) TakeRightsOf(fd, path);
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return CannotWrite(path, error);
  }
  SyncFolder(FolderOf(path));
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteAtomically(const std::string& path, absl::string_view content) {
  const absl::StatusOr<Place> place = FindPlace(path);
  if (!place.ok()) return place.status();
  return place->kind == Place::Kind::kFile ? Replace(place->path, content)
                                           : WriteInto(path, content);
}

absl::Status CheckWritable(const std::string& path) {
  const absl::StatusOr<Place> place = FindPlace(path);
  if (!place.ok()) return place.status();
  if (place->kind == Place::Kind::kStream) {
    if (OwnStream(path) >= 0 || access(path.c_str(), W_OK) == 0) return absl::OkStatus();
    return CannotWrite(path, errno);
  }
  if (access(FolderOf(place->path).c_str(), W_OK | X_OK) != 0) return CannotWrite(path, errno);
  return absl::OkStatus();
}

}  // namespace blazed::trainer
