// The state from which blazed does not recover by itself: the store can no longer keep evidence. It
// has one first cause, which stays the answer. In quarantine nothing is decided and nothing is
// adopted; sessions stand on the default plan, history and admin calls go on. Left by a restart.
// See docs/troubleshooting.md, "quarantine". Thread-safe.
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace blazed {

enum class Entered { kFirst, kAlreadyIn };

class Quarantine {
 public:
  // The first caller's cause is kept; the answer says whether this was the first.
  Entered Enter(absl::Status cause) ABSL_LOCKS_EXCLUDED(mutex_);

  // OK outside quarantine, else the first cause.
  absl::Status cause() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  absl::Status cause_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace blazed
