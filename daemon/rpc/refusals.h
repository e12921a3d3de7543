// How a connection that is one too many ends: with a word to its client, and without filling the
// log.
#pragma once

#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/planner/types.h"

namespace blazed::rpc {

// So often is a user's refused connections written to the log.
inline constexpr absl::Duration kRefusalsEvery = absl::Seconds(10);

// The strand only.
class Refusals {
 public:
  // Says why, as the end of an HTTP/2 connection (GOAWAY, ENHANCE_YOUR_CALM, the sentence as its
  // debug data), and closes. Never waits. Logs a user's first and from then on how many there were,
  // every kRefusalsEvery at most.
  void Refuse(UniqueFd connection, uint32_t uid, const absl::Status& why, planner::Moment now);

 private:
  struct Logged {
    planner::Moment at{};
    uint64_t since = 0;  // refused after that line
  };
  std::map<uint32_t, Logged> logged_;  // by user
};

}  // namespace blazed::rpc
