#include "daemon/rpc/reader_watch.h"

#include <poll.h>
#include <sys/socket.h>

#include <utility>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

namespace blazed::rpc {

namespace field = log::field;

size_t ReaderWatch::Look(planner::Moment now, Memory memory) {
  const std::vector<IdentityTable::Connection> open = identities_.Open();
  std::vector<pollfd> sockets;
  for (const IdentityTable::Connection& each : open) {
    sockets.push_back({each.number, POLLOUT, 0});
  }
  if (poll(sockets.data(), sockets.size(), 0) < 0) return 0;  // looked at again soon
  const planner::Nanos longest =
      ToNanos(memory == Memory::kScarce ? kFullWhereScarce : kFullLongest);
  std::map<int, Full> before = std::exchange(full_, {});
  std::map<uint32_t, size_t> cut;  // by user
  for (size_t i = 0; i < open.size(); ++i) {
    if (sockets[i].revents != 0) continue;  // room, or an end
    const auto known = before.find(open[i].number);
    const bool same = known != before.end() && known->second.inode == open[i].inode;
    const planner::Moment since = same ? known->second.since : now;
    if (now - since < longest) {
      full_[open[i].number] = {open[i].inode, since};
      continue;
    }
    shutdown(open[i].number, SHUT_RDWR);
    ++cut[open[i].uid];
  }
  size_t all = 0;
  for (const auto& [uid, count] : cut) {
    log::Warning("connections cut: their clients do not read",
                 {{field::kUid, uid}, {field::kCount, count}});
    all += count;
  }
  return all;
}

}  // namespace blazed::rpc
