#include "client/cpp/transport/socket_search.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace blazed::shim {
namespace {

// "unix:/path", "unix:///path" and a bare path are one.
std::string_view StripScheme(std::string_view address) {
  constexpr std::string_view kScheme = "unix:";
  if (address.substr(0, kScheme.size()) != kScheme) return address;
  address.remove_prefix(kScheme.size());
  if (address.substr(0, 2) == "//") address.remove_prefix(2);
  return address;
}

SocketCandidates Named(std::string_view address) {
  const std::string_view path = StripScheme(address);
  SocketCandidates found;
  if (path.empty()) {
    found.error = "the socket address names no path, give a path or unix:PATH";
  } else if (path.size() > kMaxSocketPath) {
    found.error = "the socket path is longer than 107 bytes, use a shorter one";
  } else {
    found.paths.emplace_back(path);
  }
  return found;
}

bool IsSet(const char* text) { return text != nullptr && text[0] != '\0'; }

Connection Failure(ConnectResult result, const std::string& path, const char* why) {
  return {result, -1, "cannot use the socket " + path + ": " + why};
}

bool OwnerIsTrusted(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == geteuid();
}

}  // namespace

SocketCandidates FindSockets(const char* option, const char* blazed_socket,
                             const char* xdg_runtime_dir) {
  if (IsSet(option)) return Named(option);
  if (IsSet(blazed_socket)) return Named(blazed_socket);
  SocketCandidates found;
  found.paths.emplace_back(kSystemSocket);
  if (IsSet(xdg_runtime_dir)) {
    std::string path = std::string(xdg_runtime_dir) + "/blazed/blazed.sock";
    if (path.size() <= kMaxSocketPath) found.paths.push_back(std::move(path));
  }
  return found;
}

Connection ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() > kMaxSocketPath) {
    return Failure(ConnectResult::kFailed, path, "its length is not between 1 and 107 bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Failure(ConnectResult::kFailed, path, strerrordesc_np(errno));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close(fd);
    // EAGAIN: the server's backlog is full; it is there, and may be better later.
    const bool absent = error == ENOENT || error == ECONNREFUSED || error == ENOTDIR;
    return Failure(absent ? ConnectResult::kAbsent : ConnectResult::kFailed, path,
                   absent ? "no daemon listens there" : strerrordesc_np(error));
  }
  if (!OwnerIsTrusted(fd)) {
    close(fd);
    return Failure(ConnectResult::kForeignOwner, path,
                   "its server runs as another user, only root's or one's own is trusted");
  }
  return {ConnectResult::kConnected, fd, ""};
}

}  // namespace blazed::shim
