// Who is at the other end of a connection, as the kernel gave it when the connection was accepted.
// Nothing in it comes from a message. A value; copies share the pidfd.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/base/unique_fd.h"

namespace blazed::session {

// Root inside a container is an ordinary user.
inline constexpr char kRootOfTheMachine[] = "uid:0";

struct Peer {
  uint32_t uid = 0;
  uint32_t gid = 0;
  pid_t pid = 0;        // 0: in a PID namespace that this daemon does not see
  std::string process;  // BOOT/PID/TICKS; empty where pid is 0
  // "uid:1000", "uid:0 container:ID" or "uid:0 unplaced": same string, same rights and same
  // evidence.
  std::string principal;
  std::shared_ptr<const UniqueFd>
      pidfd;  // readable once the process ended; null where the kernel gave none
};

}  // namespace blazed::session
