#include "daemon/history/work_queue.h"

#include <utility>

namespace blazed::history {

WorkQueue::WorkQueue(size_t threads, size_t limit) : limit_(limit) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkQueue::~WorkQueue() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

Taken WorkQueue::Add(std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  if (queue_.size() >= limit_) return Taken::kFull;
  queue_.push_back(std::move(work));
  return Taken::kYes;
}

void WorkQueue::AddAlways(std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  queue_.push_back(std::move(work));
}

void WorkQueue::Loop() {
  for (;;) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(
          +[](WorkQueue* self) ABSL_NO_THREAD_SAFETY_ANALYSIS { return self->Ready(); }, this));
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace blazed::history
