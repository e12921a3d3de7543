// When to try the daemon again.
//
// A daemon that is not there is tried every 250 ms: one connect() that fails at once costs nothing,
// and a restarted daemon gets its sessions back within a quarter of a second, however often it was
// restarted before. A daemon that takes the connection and then stays silent, or that refuses the
// stream before Welcome or just after it, trips the breaker: the pause doubles up to 30 s until a
// stream lives.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/cpp/base/clock.h"

namespace blazed::shim {

// How a stream ended.
enum class StreamEnd {
  kLived,       // long after Welcome
  kLeft,        // just after Welcome: the daemon died, or said that it goes
  kUnanswered,  // before Welcome, or refused just after it
};

class Backoff {
 public:
  static constexpr uint64_t kRetryNs = 250 * kMillisecond;
  static constexpr uint64_t kLongestNs = 30 * kSecond;

  uint64_t AfterAbsent(uint64_t now) const { return SaturatingAdd(now, kRetryNs); }

  uint64_t AfterStream(StreamEnd end, uint64_t now) {
    if (end == StreamEnd::kUnanswered) return AfterUnanswered(now);
    if (end == StreamEnd::kLived) Answered();
    return AfterAbsent(now);
  }

  uint64_t AfterUnanswered(uint64_t now) {
    const uint64_t pause = pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, kLongestNs);
    ++unanswered_;
    return SaturatingAdd(now, pause);
  }

  void Answered() {
    pause_ns_ = kRetryNs;
    unanswered_ = 0;
  }

  uint32_t unanswered() const { return unanswered_; }

 private:
  uint64_t pause_ns_ = kRetryNs;
  uint32_t unanswered_ = 0;
};

}  // namespace blazed::shim
