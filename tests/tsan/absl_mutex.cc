// Debian's Abseil is not instrumented, so the thread sanitizer would not see its locks and would
// call everything that they guard a race. These definitions stand before the library's own: each
// tells the sanitizer, then calls the library. Linked into every program of the `tsan` preset
// (cmake/BlazedTsan.cmake) and into no other.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace {

constexpr unsigned kReader = __tsan_mutex_read_lock;

void* Find(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "absl_mutex: %s is not in Abseil's library; adapt the names to its version\n",
                 symbol);
    std::abort();
  }
  return found;
}

#define REAL_CONST(type, symbol) \
  static const auto real = reinterpret_cast<type>(Find("_ZNK4absl7debian3" symbol))
#define REAL(type, symbol) \
  static const auto real = reinterpret_cast<type>(Find("_ZN4absl7debian3" symbol))

void BeforeLock(void* lock, unsigned flags) { __tsan_mutex_pre_lock(lock, flags); }
void AfterLock(void* lock, unsigned flags) { __tsan_mutex_post_lock(lock, flags, 0); }
void BeforeUnlock(void* lock, unsigned flags) { __tsan_mutex_pre_unlock(lock, flags); }
void AfterUnlock(void* lock, unsigned flags) { __tsan_mutex_post_unlock(lock, flags); }

// A wait gives the lock up and takes it again before it returns. Some of the library's waits call
// another one of these: only the outermost tells.
class Waiting {
 public:
  explicit Waiting(void* lock) : lock_(lock) {
    if (depth_++ > 0) return;
    BeforeUnlock(lock_, 0);
    AfterUnlock(lock_, 0);
    BeforeLock(lock_, 0);
  }
  ~Waiting() {
    if (--depth_ == 0) AfterLock(lock_, 0);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  static thread_local int depth_;
  void* lock_;
};

thread_local int Waiting::depth_ = 0;

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

Mutex::~Mutex() {
  REAL(void (*)(Mutex*), "5MutexD1Ev");
  real(this);
  __tsan_mutex_destroy(this, __tsan_mutex_linker_init);
}

void Mutex::Lock() {
  REAL(void (*)(Mutex*), "5Mutex4LockEv");
  BeforeLock(this, 0);
  real(this);
  AfterLock(this, 0);
}

void Mutex::Unlock() {
  REAL(void (*)(Mutex*), "5Mutex6UnlockEv");
  BeforeUnlock(this, 0);
  real(this);
  AfterUnlock(this, 0);
}

bool Mutex::TryLock() {
  REAL(bool (*)(Mutex*), "5Mutex7TryLockEv");
  BeforeLock(this, __tsan_mutex_try_lock);
  const bool locked = real(this);
  AfterLock(this, __tsan_mutex_try_lock | (locked ? 0 : __tsan_mutex_try_lock_failed));
  return locked;
}

void Mutex::ReaderLock() {
  REAL(void (*)(Mutex*), "5Mutex10ReaderLockEv");
  BeforeLock(this, kReader);
  real(this);
  AfterLock(this, kReader);
}

void Mutex::ReaderUnlock() {
  REAL(void (*)(Mutex*), "5Mutex12ReaderUnlockEv");
  BeforeUnlock(this, kReader);
  real(this);
  AfterUnlock(this, kReader);
}

void Mutex::LockWhen(const Condition& condition) {
  REAL(void (*)(Mutex*, const Condition*), "5Mutex8LockWhenERKNS0_9ConditionE");
  BeforeLock(this, 0);
  real(this, &condition);
  AfterLock(this, 0);
}

void Mutex::Await(const Condition& condition) {
  REAL(void (*)(Mutex*, const Condition*), "5Mutex5AwaitERKNS0_9ConditionE");
  const Waiting waiting(this);
  real(this, &condition);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  REAL(bool (*)(Mutex*, const Condition*, Duration),
       "5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  const Waiting waiting(this);
  return real(this, &condition, timeout);
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  REAL(bool (*)(Mutex*, const Condition*, Time),
       "5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  const Waiting waiting(this);
  return real(this, &condition, deadline);
}

void CondVar::Wait(Mutex* mutex) {
  REAL(void (*)(CondVar*, Mutex*), "7CondVar4WaitEPNS0_5MutexE");
  const Waiting waiting(mutex);
  real(this, mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  REAL(bool (*)(CondVar*, Mutex*, Duration),
       "7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE");
  const Waiting waiting(mutex);
  return real(this, mutex, timeout);
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  REAL(bool (*)(CondVar*, Mutex*, Time), "7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE");
  const Waiting waiting(mutex);
  return real(this, mutex, deadline);
}

// A notification that was sent is seen without its lock.
void Notification::Notify() {
  REAL(void (*)(Notification*), "12Notification6NotifyEv");
  __tsan_release(this);
  real(this);
}

void Notification::WaitForNotification() const {
  REAL_CONST(void (*)(const Notification*), "12Notification19WaitForNotificationEv");
  real(this);
  __tsan_acquire(const_cast<Notification*>(this));
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  REAL_CONST(bool (*)(const Notification*, Duration),
             "12Notification30WaitForNotificationWithTimeoutENS0_8DurationE");
  const bool sent = real(this, timeout);
  if (sent) __tsan_acquire(const_cast<Notification*>(this));
  return sent;
}

bool Notification::WaitForNotificationWithDeadline(Time deadline) const {
  REAL_CONST(bool (*)(const Notification*, Time),
             "12Notification31WaitForNotificationWithDeadlineENS0_4TimeE");
  const bool sent = real(this, deadline);
  if (sent) __tsan_acquire(const_cast<Notification*>(this));
  return sent;
}

ABSL_NAMESPACE_END
}  // namespace absl
