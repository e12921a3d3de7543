#include "daemon/rpc/read_peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/base/process.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5; Debian 12's headers are older than that
#endif

namespace blazed::rpc {
namespace {

// SO_PEERPIDFD names the very process that connected. Before Linux 6.5 the pid is opened: between
// connect and here it could have been used again, which the start time in Peer::process then shows.
std::shared_ptr<const UniqueFd> ReadPidfd(int socket, pid_t pid) {
  int fd = -1;
  socklen_t size = sizeof(fd);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0 && fd >= 0) {
    return std::make_shared<const UniqueFd>(fd);
  }
  // Any other error means that the process is gone, and its pid may be another's.
  if (errno != ENOPROTOOPT || pid == 0) return nullptr;
  UniqueFd opened = OpenPidfd(pid);
  if (!opened.valid()) return nullptr;
  return std::make_shared<const UniqueFd>(std::move(opened));
}

bool HasEnded(const UniqueFd& pidfd) {
  pollfd poll_fd{pidfd.get(), POLLIN, 0};
  return poll(&poll_fd, 1, 0) != 0;
}

// The containers of a process, empty on the host. Nothing where that cannot be known: a process
// that was gone, or going, when its group was read may be named with another's group or with the
// root one.
std::optional<std::string> PlaceOf(pid_t pid, const UniqueFd& pidfd) {
  const std::string text = CgroupText(pid);
  if (text.empty() || IsLeaving(pid) || HasEnded(pidfd)) return std::nullopt;
  return ContainerOf(text);
}

std::string PrincipalAt(uint32_t uid, const std::optional<std::string>& place) {
  return place ? PrincipalOf(uid, *place) : absl::StrCat("uid:", uid, " unplaced");
}

}  // namespace

std::string PrincipalOf(uint32_t uid, std::string_view container) {
  std::string principal = absl::StrCat("uid:", uid);
  if (!container.empty()) absl::StrAppend(&principal, " container:", std::string(container));
  return principal;
}

absl::StatusOr<session::Peer> ReadPeer(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot read who connected: ", strerror(errno), "; connect again"));
  }
  session::Peer peer;
  peer.uid = credentials.uid;
  peer.gid = credentials.gid;
  peer.pid = credentials.pid;
  peer.pidfd = ReadPidfd(socket, credentials.pid);
  if (peer.pid != 0) peer.process = ProcessName(peer.pid, StartTicks(peer.pid));
  const bool known = peer.pid != 0 && peer.pidfd != nullptr;
  peer.principal = PrincipalAt(peer.uid, known ? PlaceOf(peer.pid, *peer.pidfd) : std::nullopt);
  return peer;
}

std::string PrincipalHere(uint32_t uid) {
  const UniqueFd self = OpenPidfd(getpid());
  if (!self.valid()) return "";
  const std::optional<std::string> place = PlaceOf(getpid(), self);
  return place ? PrincipalOf(uid, *place) : "";
}

std::string OwnPrincipal() { return PrincipalHere(geteuid()); }

}  // namespace blazed::rpc
