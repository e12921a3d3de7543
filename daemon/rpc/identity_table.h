// Which connection belongs to whom. gRPC tells a handler only the number of the descriptor
// ("fd:N"), so identity hangs on that number: descriptors live in a private range, numbers are
// handed out in turn, and an entry counts only while its number still names the very socket it was
// made for. Thread-safe: the listener adds, every RPC looks up.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/unique_fd.h"
#include "daemon/session/peer.h"

namespace blazed::rpc {

// Which socket a connection came through. Connections are counted for each by itself, so that
// shims of root's leave operators their way in.
enum class Door { kShims, kOperators };

class IdentityTable {
 public:
  // Numbers from `first` to below `last`, both within the process's limit of descriptors.
  IdentityTable(int first, int last);

  // Moves the socket into the private range and remembers whose it is. The caller gives the
  // answered number to gRPC, which closes it. RESOURCE_EXHAUSTED when the user has `most`
  // connections open through this door or no number is free: the socket stays the caller's.
  absl::StatusOr<int> Admit(UniqueFd& socket, session::Peer peer, Door door, uint32_t most)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // By what ServerContext::peer() says. Nothing for another transport or a closed connection.
  std::optional<session::Peer> Find(std::string_view grpc_peer) ABSL_LOCKS_EXCLUDED(mutex_);

  struct Connection {
    int number = -1;
    uint32_t uid = 0;
    ino_t inode = 0;  // of the socket
  };
  // Those that are open. A number may be closed by gRPC at any time.
  std::vector<Connection> Open() ABSL_LOCKS_EXCLUDED(mutex_);

  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    session::Peer peer;
    Door door = Door::kShims;
    ino_t inode = 0;  // of the socket
  };

  static bool IsOpen(int number, const Entry& entry);
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int MoveToRange(int socket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int first_, last_;
  mutable absl::Mutex mutex_;
  int next_ ABSL_GUARDED_BY(mutex_);
  std::map<int, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace blazed::rpc
