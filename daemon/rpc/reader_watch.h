// Cuts connections whose other end does not read.
//
// HTTP/2 makes a server answer what nobody limits: pings, settings. gRPC keeps those answers while
// the socket is full, outside its resource quota and without a bound, so a client that asks and
// never reads could take all memory. A connection whose socket has stayed full is shut down here,
// which makes gRPC drop everything that it kept for it.
//
// The strand only, as Admit is: so a number that was looked up still names its connection.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "absl/time/time.h"
#include "daemon/planner/types.h"
#include "daemon/rpc/identity_table.h"

namespace blazed::rpc {

// How often to look while there are connections.
inline constexpr absl::Duration kReaderLook = absl::Milliseconds(200);
// How long a socket may stay full. A stopped process or a slow pipe is given the longer time; where
// memory is scarce nobody is waited for.
inline constexpr absl::Duration kFullLongest = absl::Seconds(10);
inline constexpr absl::Duration kFullWhereScarce = absl::Milliseconds(300);

enum class Memory { kEnough, kScarce };

class ReaderWatch {
 public:
  explicit ReaderWatch(IdentityTable& identities) : identities_(identities) {}

  // Looks at every open connection; answers how many it cut. A socket that has room once begins
  // anew. Logs whose connections they were.
  size_t Look(planner::Moment now, Memory memory);

 private:
  struct Full {
    ino_t inode = 0;
    planner::Moment since{};
  };

  IdentityTable& identities_;
  std::map<int, Full> full_;  // by number
};

}  // namespace blazed::rpc
