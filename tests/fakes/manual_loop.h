// A control strand that the test turns by hand, with time of its own. Post may come from any
// thread, the rest from the test's thread only.
#pragma once

#include <poll.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/session/loop.h"

namespace blazed::fakes {

class ManualLoop final : public session::Loop {
 public:
  void Post(Task task) override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    posted_.push_back(std::move(task));
  }

  Handle After(absl::Duration delay, Task task) override {
    timers_[++last_] = {now_ + absl::ToChronoNanoseconds(delay), std::move(task)};
    return last_;
  }

  Handle WhenReadable(std::shared_ptr<const UniqueFd> fd, Task task) override {
    watches_[++last_] = {std::move(fd), std::move(task)};
    return last_;
  }

  void Cancel(Handle handle) override {
    timers_.erase(handle);
    watches_.erase(handle);
  }

  planner::Moment Now() const override { return now_; }
  int64_t WallNs() const override { return 1'700'000'000'000'000'000 + now_.count(); }

  // Runs what is due until `done`; false when that takes a minute of real time, which is a failed
  // test.
  bool RunUntil(const std::function<bool()>& done) {
    const absl::Time give_up = absl::Now() + absl::Minutes(1);
    while (true) {
      RunReady();
      if (done()) return true;
      if (absl::Now() > give_up) return false;
      WaitForWork();
    }
  }

  // What is posted and readable at this moment.
  void RunReady() {
    while (true) {
      Task task = TakePosted();
      if (!task) task = TakeReadable();
      if (!task) return;
      task();
    }
  }

  // Moves time on, running each timer at its own moment.
  void Advance(absl::Duration by) {
    const planner::Moment end = now_ + absl::ToChronoNanoseconds(by);
    while (true) {
      auto next = timers_.end();
      for (auto it = timers_.begin(); it != timers_.end(); ++it) {
        if (it->second.due > end) continue;
        if (next == timers_.end() || it->second.due < next->second.due) next = it;
      }
      if (next == timers_.end()) break;
      now_ = std::max(now_, next->second.due);
      Task task = std::move(next->second.task);
      timers_.erase(next);
      task();
      RunReady();
    }
    now_ = end;
  }

  size_t timers() const { return timers_.size(); }

 private:
  struct Timer {
    planner::Moment due{};
    Task task;
  };
  struct Watch {
    std::shared_ptr<const UniqueFd> fd;
    Task task;
  };

  bool HasPosted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !posted_.empty(); }

  void WaitForWork() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithTimeout(absl::Condition(this, &ManualLoop::HasPosted), absl::Milliseconds(5));
  }

  Task TakePosted() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (posted_.empty()) return nullptr;
    Task task = std::move(posted_.front());
    posted_.pop_front();
    return task;
  }

  Task TakeReadable() {
    for (auto it = watches_.begin(); it != watches_.end(); ++it) {
      pollfd poll_fd{it->second.fd->get(), POLLIN, 0};
      if (poll(&poll_fd, 1, 0) != 1) continue;
      Task task = std::move(it->second.task);
      watches_.erase(it);
      return task;
    }
    return nullptr;
  }

  absl::Mutex mutex_;
  std::deque<Task> posted_ ABSL_GUARDED_BY(mutex_);
  planner::Moment now_{std::chrono::hours(1)};
  Handle last_ = 0;
  std::map<Handle, Timer> timers_;
  std::map<Handle, Watch> watches_;
};

}  // namespace blazed::fakes
