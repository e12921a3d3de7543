// Times 16 of every 256 steps, without a drain. In a host that waits each step the steps' own times
// are added up; in one that runs ahead of its device only the whole span means anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace blazed::shim {

class ServiceTimer {
 public:
  static constexpr uint64_t kEvery = 256;
  static constexpr uint32_t kSteps = 16;

  // True for the steps that are timed; `step` counts from 1.
  static constexpr bool Covers(uint64_t step) { return step % kEvery < kSteps; }

  // How many steps from `step` on are not timed.
  static constexpr uint32_t Uncovered(uint64_t step) {
    return Covers(step) ? 0 : static_cast<uint32_t>(kEvery - step % kEvery);
  }

  void Begin(uint64_t step, uint64_t now) {
    if (step % kEvery == 0) {
      first_step_ = step;
      steps_ = 0;
      spoiled_ = false;
    }
    begins_[step % kEvery] = now;
  }

  // True: the window is complete and fair.
  bool End(uint64_t step, uint64_t now, uint32_t flags) {
    const size_t place = step % kEvery;
    lengths_[place] = now - begins_[place];
    last_ns_ = now;
    ++steps_;
    if (flags != 0) spoiled_ = true;
    return place == kSteps - 1 && steps_ == kSteps && !spoiled_ && step - first_step_ == kSteps - 1;
  }

  // Something else happened inside the window, or its plan changed.
  void Spoil() { spoiled_ = true; }

  uint64_t first_step() const { return first_step_; }

  // The answers below are of a window that End called complete.
  uint64_t SumNs() const {
    uint64_t sum = 0;
    for (const uint64_t length : lengths_) sum += length;
    return sum;
  }
  uint64_t SpanNs() const { return last_ns_ - begins_[0]; }
  uint64_t MedianStepNs() const { return MedianOf(lengths_); }
  // From one step's begin to the next one's: what a step takes where the host runs ahead.
  uint64_t MedianPaceNs() const {
    std::array<uint64_t, kSteps - 1> between;
    for (size_t i = 0; i < between.size(); ++i) between[i] = begins_[i + 1] - begins_[i];
    return MedianOf(between);
  }

 private:
  template <size_t N>
  static uint64_t MedianOf(std::array<uint64_t, N> values) {
    const auto middle = values.begin() + N / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  uint64_t first_step_ = 0;
  std::array<uint64_t, kSteps> begins_{}, lengths_{};
  uint64_t last_ns_ = 0;
  uint32_t steps_ = 0;
  bool spoiled_ = true;
};

}  // namespace blazed::shim
