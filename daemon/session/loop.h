// The control strand: the one thread that owns sessions, tunings and turns. What runs on it must be
// short. AsioLoop is the real one; tests turn a loop of their own by hand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/planner/types.h"

namespace blazed::session {

class Loop {
 public:
  using Task = std::function<void()>;
  using Handle = uint64_t;  // of a timer or a watch; 0 is none

  virtual ~Loop() = default;

  // Runs `task` on the strand, after what was posted before. Any thread.
  virtual void Post(Task task) = 0;

  // The rest only on the strand.

  // Runs `task` once after `delay`, unless cancelled first.
  virtual Handle After(absl::Duration delay, Task task) = 0;
  // Runs `task` once when the descriptor is readable, unless cancelled first. Keeps the descriptor.
  virtual Handle WhenReadable(std::shared_ptr<const UniqueFd> fd, Task task) = 0;
  // Harmless for a handle that ran or was cancelled, and for 0.
  virtual void Cancel(Handle handle) = 0;

  virtual planner::Moment Now() const = 0;
  virtual int64_t WallNs() const = 0;
};

}  // namespace blazed::session
