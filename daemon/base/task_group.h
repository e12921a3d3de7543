// The daemon's long-lived parts. Each runs on a thread of its own until asked to stop; the first
// one that fails stops all, in the reverse order of their start. Stop is the same path as failure.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace blazed {

class TaskGroup {
 public:
  TaskGroup() = default;
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts `run` on its own thread. `stop` must make `run` return and may be called from any
  // thread, also when `run` has returned. A `run` that returns before it was asked to has failed.
  void Start(std::string name, std::function<absl::Status()> run, std::function<void()> stop)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Notes a failure from outside, or OK for an ordinary stop; wakes Wait. The first one is kept.
  void RequestStop(absl::Status why) ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until a task failed or a stop was requested; answers why.
  absl::Status Wait() ABSL_LOCKS_EXCLUDED(mutex_);

  // Stops and joins all tasks, last started first. Called by the owner's thread.
  void StopAll() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Task {
    std::string name;
    std::function<void()> stop;
    std::thread thread;
  };

  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
  std::vector<Task> tasks_;  // the owner's thread only
};

}  // namespace blazed
