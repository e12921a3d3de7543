// A mutex and a condition variable that Clang's thread-safety analysis can follow. std::mutex of
// libstdc++ carries no annotations. Waits are against CLOCK_MONOTONIC.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "client/cpp/base/clock.h"

#if defined(__clang__)
#define BLZ_ATTRIBUTE(x) __attribute__((x))
#else
#define BLZ_ATTRIBUTE(x)
#endif
#define BLZ_GUARDED_BY(x) BLZ_ATTRIBUTE(guarded_by(x))
#define BLZ_REQUIRES(x) BLZ_ATTRIBUTE(requires_capability(x))

namespace blazed::shim {

class BLZ_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  ~Mutex() { pthread_mutex_destroy(&mutex_); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void Lock() BLZ_ATTRIBUTE(acquire_capability()) { pthread_mutex_lock(&mutex_); }
  void Unlock() BLZ_ATTRIBUTE(release_capability()) { pthread_mutex_unlock(&mutex_); }

 private:
  friend class Condition;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class BLZ_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) BLZ_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() BLZ_ATTRIBUTE(release_capability()) { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class Condition {
 public:
  Condition() = default;
  ~Condition() { pthread_cond_destroy(&condition_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // False: `deadline_ns` (MonotonicNs) has passed. May wake for no reason: ask in a loop.
  bool WaitUntil(Mutex& mutex, uint64_t deadline_ns) BLZ_REQUIRES(mutex) {
    timespec deadline{};
    deadline.tv_sec = static_cast<time_t>(deadline_ns / kSecond);
    deadline.tv_nsec = static_cast<long>(deadline_ns % kSecond);
    return pthread_cond_clockwait(&condition_, &mutex.mutex_, CLOCK_MONOTONIC, &deadline) == 0;
  }
  void NotifyAll() { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace blazed::shim
