#include "client/trainer/job/step_times.h"

#include <algorithm>

namespace blazed::trainer {

void StepTimes::Add(absl::Duration duration) {
  ns_[count_++ % kKept] = absl::ToDoubleNanoseconds(duration);
}

double StepTimes::MedianNs() const {
  const auto kept = static_cast<std::ptrdiff_t>(std::min<uint64_t>(count_, kKept));
  if (kept == 0) return 0;
  std::array<double, kKept> copy = ns_;
  std::nth_element(copy.begin(), copy.begin() + kept / 2, copy.begin() + kept);
  return copy[static_cast<size_t>(kept / 2)];
}

}  // namespace blazed::trainer
