#include "client/cpp/transport/fork_guard.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace blazed::shim {
namespace {

constexpr int kSlots = 64;
constexpr size_t kPageBytes = 4096;

// Zero-initialised: no constructor runs at load.
std::atomic<ForkGuard*> slots[kSlots];
std::atomic<bool> registered;

int ClaimSlot(ForkGuard* guard) {
  for (int i = 0; i < kSlots; ++i) {
    ForkGuard* expected = nullptr;
    if (slots[i].compare_exchange_strong(expected, guard)) return i;
  }
  return -1;
}

}  // namespace

void ForkGuard::InChild() {
  const int saved_errno = errno;
  for (auto& slot : slots) {
    ForkGuard* guard = slot.exchange(nullptr);
    if (guard == nullptr) continue;
    guard->page_->hot.store(0);
    guard->page_->owner.store(0);
    for (std::atomic<int>* held : {&guard->socket_, &guard->wake_}) {
      const int fd = held->exchange(-1);
      if (fd >= 0) close(fd);
    }
  }
  errno = saved_errno;
}

std::unique_ptr<ForkGuard> ForkGuard::Create() {
  if (!registered.exchange(true) && pthread_atfork(nullptr, nullptr, &ForkGuard::InChild) != 0) {
    registered.store(false);
    return nullptr;
  }
  std::unique_ptr<ForkGuard> guard(new (std::nothrow) ForkGuard);
  if (guard == nullptr) return nullptr;
  void* memory =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // An older kernel refuses; the at-fork handler still holds.
  static_cast<void>(madvise(memory, kPageBytes, MADV_WIPEONFORK));
  guard->page_ = new (memory) Page{0, 1};
  guard->slot_ = ClaimSlot(guard.get());
  if (guard->slot_ < 0) return nullptr;
  return guard;
}

ForkGuard::~ForkGuard() {
  if (slot_ >= 0) {
    ForkGuard* expected = this;
    slots[slot_].compare_exchange_strong(expected, nullptr);
  }
  if (page_ != nullptr) munmap(page_, kPageBytes);
}

}  // namespace blazed::shim
