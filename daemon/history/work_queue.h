// Threads for queries: a gRPC reaction may not wait for a disk. Bounded, so that a flood of queries
// is refused and not remembered.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace blazed::history {

enum class Taken { kYes, kFull };

class WorkQueue {
 public:
  WorkQueue(size_t threads, size_t limit);
  // Runs what is queued, then ends the threads.
  ~WorkQueue();

  // Any thread. kFull: not taken, and never run.
  Taken Add(std::function<void()> work);
  // For work that is bounded by itself and must not be lost; takes no place of the limit.
  void AddAlways(std::function<void()> work);

 private:
  void Loop();
  bool Ready() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !queue_.empty() || stopping_; }

  const size_t limit_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace blazed::history
