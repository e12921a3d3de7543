#include "storage/sqlite/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace blazed::storage {
namespace {

std::string HolderOf(int fd) {
  std::array<char, 32> text{};
  const ssize_t count = pread(fd, text.data(), text.size() - 1, 0);
  if (count <= 0) return "unknown";
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text.data(), count)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LockFile>> LockFile::Take(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot open the lock file ", path, ": ", strerror(errno),
                     "; make it a plain file of the daemon's user, or name another folder with "
                     "--state"));
  }
  std::unique_ptr<LockFile> lock(new LockFile(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return absl::ErrnoToStatus(errno, absl::StrCat("locking ", path));
    return absl::FailedPreconditionError(
        absl::StrCat("the store is in use by the daemon with pid ", HolderOf(fd),
                     ": stop it or name another folder with --state"));
  }
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("writing the lock file ", path));
  }
  return lock;
}

LockFile::~LockFile() { close(fd_); }

}  // namespace blazed::storage
