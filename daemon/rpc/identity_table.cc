#include "daemon/rpc/identity_table.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace blazed::rpc {
namespace {

// Inode of the socket behind a number; 0 where it is closed or no socket.
ino_t SocketInode(int number) {
  struct stat info {};
  if (fstat(number, &info) != 0 || !S_ISSOCK(info.st_mode)) return 0;
  return info.st_ino;
}

}  // namespace

IdentityTable::IdentityTable(int first, int last) : first_(first), last_(last), next_(first) {}

bool IdentityTable::IsOpen(int number, const Entry& entry) {
  return entry.inode != 0 && SocketInode(number) == entry.inode;
}

// gRPC closes a connection without telling, so closed ones are found when somebody connects.
void IdentityTable::Sweep() {
  for (auto it = entries_.begin(); it != entries_.end();) {
    it = IsOpen(it->first, it->second) ? std::next(it) : entries_.erase(it);
  }
}

// Numbers go round: one that was just closed is used again only after the whole range was.
int IdentityTable::MoveToRange(int socket) {
  for (int start : {next_, first_}) {
    const int number = fcntl(socket, F_DUPFD_CLOEXEC, start);
    if (number < 0) continue;
    if (number < last_) {
      next_ = number + 1 < last_ ? number + 1 : first_;
      return number;
    }
    close(number);
  }
  return -1;
}

absl::StatusOr<int> IdentityTable::Admit(UniqueFd& socket, session::Peer peer, Door door,
                                         uint32_t most) {
  absl::MutexLock lock(&mutex_);
  Sweep();
  uint32_t open = 0;
  for (const auto& [number, entry] : entries_) {
    open += entry.door == door && entry.peer.uid == peer.uid;
  }
  if (open >= most) {
    return absl::ResourceExhaustedError(
        absl::StrCat("user ", peer.uid, " has ", open,
                     " connections open, which is the limit; close one or raise "
                     "limits.connections_per_user"));
  }
  const int number = MoveToRange(socket.get());
  if (number < 0) {
    return absl::ResourceExhaustedError(
        "no descriptor is free for a connection; raise the daemon's limit of open files");
  }
  socket.reset(-1);
  entries_[number] = Entry{std::move(peer), door, SocketInode(number)};
  return number;
}

std::optional<session::Peer> IdentityTable::Find(std::string_view grpc_peer) {
  constexpr std::string_view kPrefix = "fd:";
  int number = -1;
  if (grpc_peer.substr(0, kPrefix.size()) != kPrefix ||
      !absl::SimpleAtoi(std::string(grpc_peer.substr(kPrefix.size())), &number)) {
    return std::nullopt;
  }
  absl::MutexLock lock(&mutex_);
  auto it = entries_.find(number);
  if (it == entries_.end()) return std::nullopt;
  if (!IsOpen(number, it->second)) {
    entries_.erase(it);
    return std::nullopt;
  }
  return it->second.peer;
}

std::vector<IdentityTable::Connection> IdentityTable::Open() {
  absl::MutexLock lock(&mutex_);
  Sweep();
  std::vector<Connection> open;
  for (const auto& [number, entry] : entries_) {
    open.push_back({number, entry.peer.uid, entry.inode});
  }
  return open;
}

size_t IdentityTable::size() const {
  absl::MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace blazed::rpc
