// What makes a forked child harmless: the child's copy of a session is off before its first line
// runs.
//
// Two independent guards. The session's hot word lives in a page that the kernel wipes at fork
// (MADV_WIPEONFORK, Linux 4.14), which holds for raw clone() as well; zero reads as off. And an
// at-fork child handler, registered once at the first attach, zeroes the same word and closes the
// inherited descriptors, so that a dead parent's socket does not live on in its children.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace blazed::shim {

// Bits of the hot word. Zero: off. kAlive alone: nothing to do in a step.
inline constexpr uint32_t kHotAlive = 1;
inline constexpr uint32_t kHotAttention = 2;  // the link left something in the inbox
inline constexpr uint32_t kHotEngaged = 4;    // the engine has work in coming steps

class ForkGuard {
 public:
  // Null: memory or the table of 64 live sessions ran out. Session's thread.
  static std::unique_ptr<ForkGuard> Create();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  std::atomic<uint32_t>& hot() { return page_->hot; }

  // True in a forked child of the process that made it. Any thread.
  bool InForkedChild() const { return page_->owner.load(std::memory_order_relaxed) == 0; }

  // Descriptors that a child must not keep; -1 forgets. Set after opening, forgotten before
  // closing.
  void GuardSocket(int fd) { socket_.store(fd, std::memory_order_relaxed); }
  void GuardWake(int fd) { wake_.store(fd, std::memory_order_relaxed); }

 private:
  struct Page {
    std::atomic<uint32_t> hot;
    std::atomic<uint32_t> owner;  // 1 in the process that made it
  };

  ForkGuard() = default;
  static void InChild();  // async-signal-safe

  Page* page_ = nullptr;
  int slot_ = -1;
  std::atomic<int> socket_{-1};
  std::atomic<int> wake_{-1};
};

}  // namespace blazed::shim
