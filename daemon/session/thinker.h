// Thinks for the searches of all tunings, off the control strand: one thought at a time, so that no
// more than one copy of a search is in memory, on a thread that gives way to everything else.
#pragma once

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/planner/thought.h"
#include "daemon/session/loop.h"

namespace blazed::session {

class Thinker {
 public:
  using Answer = std::function<void(planner::Conclusion)>;

  virtual ~Thinker() = default;

  // The strand. Not before the last answer has come. `answer` runs on the strand, later; never
  // where the daemon stops first.
  virtual void Think(std::shared_ptr<const planner::Thought> thought, Answer answer) = 0;
};

// A task of its own (task_group.h).
class ThreadThinker final : public Thinker {
 public:
  explicit ThreadThinker(Loop& loop) : loop_(loop) {}

  // Thinks until Stop. Whose thread calls it becomes the thinking one.
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Any thread. The thought under way is thought to its end, some tens of milliseconds at most.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  void Think(std::shared_ptr<const planner::Thought> thought, Answer answer) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  bool Wakes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || thought_; }

  Loop& loop_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const planner::Thought> thought_ ABSL_GUARDED_BY(mutex_);
  Answer answer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace blazed::session
