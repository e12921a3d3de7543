// Monotonic time in nanoseconds. Tests bring a clock of their own.
#pragma once

#include <time.h>

#include <cstdint>
#include <limits>

namespace blazed::shim {

inline constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
inline constexpr uint64_t kMillisecond = 1'000'000;
inline constexpr uint64_t kSecond = 1'000'000'000;

// CLOCK_MONOTONIC from the vDSO: no system call.
inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

// Durations come from messages: a sum never wraps.
constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b) { return a > kNever - b ? kNever : a + b; }

class Clock {
 public:
  virtual ~Clock() = default;
  virtual uint64_t Now() { return MonotonicNs(); }
};

}  // namespace blazed::shim
