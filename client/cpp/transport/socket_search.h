// Where the daemon's socket may be, and a connection to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace blazed::shim {

inline constexpr size_t kMaxSocketPath = 107;  // sockaddr_un.sun_path less the closing zero
inline constexpr char kSystemSocket[] = "/run/blazed/blazed.sock";

struct SocketCandidates {
  std::vector<std::string> paths;
  std::string error;  // a named address that cannot be used; paths is then empty
};

// An address that was named, by the option or by BLAZED_SOCKET, is the only candidate: a job sent
// to one daemon must not end up with another. Null or "" stand for not named.
SocketCandidates FindSockets(const char* option, const char* blazed_socket,
                             const char* xdg_runtime_dir);

enum class ConnectResult { kConnected, kAbsent, kForeignOwner, kFailed };

struct Connection {
  ConnectResult result = ConnectResult::kFailed;
  int fd = -1;  // owned by the caller; non-blocking, close-on-exec
  std::string error;
};

// Never waits: a Unix socket connects at once or not at all. Refuses a server that is neither root
// nor this process's user.
Connection ConnectUnix(const std::string& path);

}  // namespace blazed::shim
