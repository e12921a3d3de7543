// A bounded ring between exactly one producer and one consumer thread. Neither ever waits; a full
// ring refuses. Slots are made once, so that pushing plain values allocates nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace blazed::shim {

template <typename T, size_t kCapacity>
class SpscRing {
 public:
  static_assert((kCapacity & (kCapacity - 1)) == 0, "a power of two");

  // Producer. False: full, `value` is untouched.
  bool Push(T&& value) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == kCapacity) return false;
    slots_[tail % kCapacity] = std::move(value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // Consumer. False: empty.
  bool Pop(T& value) {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    value = std::move(slots_[head % kCapacity]);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(64) std::atomic<size_t> head_{0};
  alignas(64) std::atomic<size_t> tail_{0};
  alignas(64) std::array<T, kCapacity> slots_{};
};

}  // namespace blazed::shim
