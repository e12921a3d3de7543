// Takes a path as a listening Unix socket without ever displacing anybody: a running daemon,
// another user's socket or a plain file at the path is an error. A socket that a dead daemon of the
// same user left behind is replaced. A lock file beside the socket (PATH.lock, kept for ever)
// decides between two daemons that start at once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/base/unique_fd.h"

namespace blazed::rpc {

// Longest path the kernel takes: sizeof(sockaddr_un::sun_path) less the ending NUL.
inline constexpr size_t kLongestSocketPath = 107;

// INVALID_ARGUMENT with one line where no socket can ever be at the path. Touches nothing.
absl::Status CheckSocketPath(const std::string& path);

class BoundSocket {
 public:
  // INVALID_ARGUMENT: the path itself is no good. FAILED_PRECONDITION: the folder or what lies at
  // the path is not ours. ALREADY_EXISTS: a daemon serves there. Each sentence says the next move.
  static absl::StatusOr<BoundSocket> Bind(const std::string& path, uint32_t mode);

  // A socket that systemd listens on for us; nothing is unlinked at the end.
  static BoundSocket Inherited(UniqueFd listening);

  BoundSocket(BoundSocket&&) noexcept = default;
  BoundSocket& operator=(BoundSocket&&) = delete;
  ~BoundSocket();  // unlinks the path if it still is this socket

  // The listening descriptor, given away once.
  UniqueFd TakeListening() { return std::move(listening_); }

 private:
  BoundSocket() = default;

  UniqueFd listening_;
  UniqueFd lock_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Sockets that systemd passed to this process (sd_listen_fds(3)), by name from LISTEN_FDNAMES. The
// first socket that is not named "admin" is the main one. Clears the variables. FAILED_PRECONDITION
// where one is no listening Unix stream socket.
struct PassedSockets {
  UniqueFd main, admin;
};
absl::StatusOr<PassedSockets> TakePassedSockets();

}  // namespace blazed::rpc
