#pragma once

#include <chrono>

#include "absl/time/time.h"

namespace blazed::trainer {

// Time since it was made, on the monotonic clock.
class Stopwatch {
 public:
  absl::Duration Elapsed() const {
    return absl::FromChrono(std::chrono::steady_clock::now() - begin_);
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace blazed::trainer
