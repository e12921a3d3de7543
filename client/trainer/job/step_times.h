#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace blazed::trainer {

// The durations of the latest steps.
class StepTimes {
 public:
  static constexpr size_t kKept = 256;

  void Add(absl::Duration duration);
  // Forgets all: what follows runs under another plan.
  void Clear() { count_ = 0; }

  // Of the kept ones; 0 before the first. Sorts a copy: not for every step.
  double MedianNs() const;

 private:
  std::array<double, kKept> ns_ = {};
  uint64_t count_ = 0;
};

}  // namespace blazed::trainer
