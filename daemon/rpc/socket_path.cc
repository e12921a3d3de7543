#include "daemon/rpc/socket_path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace blazed::rpc {
namespace {

constexpr int kBacklog = 1024;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Whoever may write the folder may put another socket in our place, so it must be ours or root's
// alone. A sticky folder is good too: there only the owner removes a file.
absl::Status CheckFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == 0 ? "/" : path.substr(0, slash);
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(absl::StrCat("cannot make the socket's folder ", folder,
                                                      ": ", strerror(errno), "; make it first"));
  }
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " is no folder; give a socket path in a folder"));
  }
  if (info.st_uid != 0 && info.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the socket's folder ", folder, " belongs to user ", info.st_uid,
                     ", who could replace the socket; give a path in a folder of your own"));
  }
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write && (info.st_mode & S_ISVTX) == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the socket's folder ", folder,
                     " can be written by others, who could replace the socket; chmod it to 0755"));
  }
  return absl::OkStatus();
}

absl::Status Busy(const std::string& path) {
  return absl::AlreadyExistsError(
      absl::StrCat("another blazed serves ", path, "; use that one, stop it, or give --socket"));
}

absl::StatusOr<UniqueFd> TakeLock(const std::string& path) {
  const std::string name = path + ".lock";
  UniqueFd lock(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) {
    return absl::FailedPreconditionError(absl::StrCat("cannot open the lock file ", name, ": ",
                                                      strerror(errno), "; give another --socket"));
  }
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return Busy(path);
  return lock;
}

// A connection refused is the sign of a socket nobody listens on; anything else counts as alive.
bool SomebodyListens(const std::string& path) {
  UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = AddressOf(path);
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return true;
  }
  return errno != ECONNREFUSED;
}

// Asked before anything is written beside the path, too.
absl::Status CheckNothingElse(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || S_ISSOCK(info.st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " exists and is no socket; remove it or give another --socket"));
}

absl::Status ClearStaleSocket(const std::string& path) {
  if (absl::Status s = CheckNothingElse(path); !s.ok()) return s;
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (info.st_uid != geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is a socket of user ", info.st_uid,
                                                      "; remove it or give another --socket"));
  }
  if (SomebodyListens(path)) return Busy(path);
  if (unlink(path.c_str()) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot remove the stale socket ", path, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

// Closed to everybody until it has its final mode: Linux gives the path the mode of the socket's
// own inode.
int BindClosed(int socket, const std::string& path) {
  const sockaddr_un address = AddressOf(path);
  if (fchmod(socket, 0) != 0) return -1;
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

}  // namespace

absl::Status CheckSocketPath(const std::string& path) {
  const auto control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (std::any_of(path.begin(), path.end(), control)) {
    return absl::InvalidArgumentError(
        absl::StrCat("socket path \"", absl::CHexEscape(path),
                     "\" holds control bytes; give a path of one line"));
  }
  if (path.empty() || path[0] != '/') {
    return absl::InvalidArgumentError(
        absl::StrCat("socket path \"", path, "\" is not absolute; give a path that begins with /"));
  }
  if (path.back() == '/') {
    return absl::InvalidArgumentError(absl::StrCat(
        "socket path ", path, " ends in /; give the path of the socket itself, not of its folder"));
  }
  if (path.size() > kLongestSocketPath) {
    return absl::InvalidArgumentError(absl::StrCat("socket path ", path, " has ", path.size(),
                                                   " bytes and the kernel takes ",
                                                   kLongestSocketPath, "; give a shorter one"));
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundSocket> BoundSocket::Bind(const std::string& path, uint32_t mode) {
  if (absl::Status s = CheckSocketPath(path); !s.ok()) return s;
  if (absl::Status s = CheckFolder(path); !s.ok()) return s;
  if (absl::Status s = CheckNothingElse(path); !s.ok()) return s;
  absl::StatusOr<UniqueFd> lock = TakeLock(path);
  if (!lock.ok()) return lock.status();
  if (absl::Status s = ClearStaleSocket(path); !s.ok()) return s;

  BoundSocket bound;
  bound.lock_ = *std::move(lock);
  bound.listening_ = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (BindClosed(bound.listening_.get(), path) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot bind ", path, ": ", strerror(errno), "; give another --socket"));
  }
  bound.path_ = path;
  struct stat info {};
  if (lstat(path.c_str(), &info) == 0) {
    bound.device_ = info.st_dev;
    bound.inode_ = info.st_ino;
  }
  if (listen(bound.listening_.get(), kBacklog) != 0 || chmod(path.c_str(), mode) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", path, ": ", strerror(errno)));
  }
  return bound;
}

BoundSocket BoundSocket::Inherited(UniqueFd listening) {
  BoundSocket bound;
  bound.listening_ = std::move(listening);
  return bound;
}

BoundSocket::~BoundSocket() {
  if (!lock_.valid()) return;  // inherited, or moved from
  struct stat info {};
  if (lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_) {
    unlink(path_.c_str());
  }
}

}  // namespace blazed::rpc
