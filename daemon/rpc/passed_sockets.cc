#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/rpc/socket_path.h"

namespace blazed::rpc {
namespace {

constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START

int SocketOption(int fd, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  if (getsockopt(fd, SOL_SOCKET, name, &value, &size) != 0) return -1;
  return value;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

absl::StatusOr<PassedSockets> TakePassedSockets() {
  PassedSockets passed;
  int pid = 0, count = 0;
  const std::vector<std::string> names = absl::StrSplit(Variable("LISTEN_FDNAMES"), ':');
  const bool for_us = absl::SimpleAtoi(Variable("LISTEN_PID"), &pid) && pid == getpid() &&
                      absl::SimpleAtoi(Variable("LISTEN_FDS"), &count);
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) unsetenv(name);
  if (!for_us) return passed;
  for (int i = 0; i < count; ++i) {
    const int fd = kFirstPassed + i;
    if (SocketOption(fd, SO_DOMAIN) != AF_UNIX || SocketOption(fd, SO_TYPE) != SOCK_STREAM ||
        SocketOption(fd, SO_ACCEPTCONN) != 1) {
      return absl::FailedPreconditionError(
          absl::StrCat("descriptor ", fd,
                       " passed by the service manager is no listening Unix "
                       "stream socket; set ListenStream= to a path"));
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    const bool admin = i < static_cast<int>(names.size()) && names[i] == "admin";
    UniqueFd& place = admin ? passed.admin : passed.main;
    if (place.valid()) {
      return absl::FailedPreconditionError(
          "the service manager passed more sockets than one for shims and one named admin");
    }
    place.reset(fd);
  }
  return passed;
}

}  // namespace blazed::rpc
