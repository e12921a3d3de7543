// Times 16 of every 256 steps, without a drain. In a host that waits each step the steps' own times
// are added up; in one that runs ahead of its device only the whole span means anything.
#pragma once

#include <cstdint>

namespace blazed::shim {

class ServiceTimer {
 public:
  static constexpr uint64_t kEvery = 256;
  static constexpr uint32_t kSteps = 16;

  // True for the steps that are timed; `step` counts from 1.
  static bool Covers(uint64_t step) { return step % kEvery < kSteps; }

  void Begin(uint64_t step, uint64_t now) {
    if (step % kEvery == 0) {
      first_step_ = step;
      first_ns_ = now;
      sum_ns_ = 0;
      steps_ = 0;
      spoiled_ = false;
    }
    began_ns_ = now;
  }

  // True: the window is complete and fair.
  bool End(uint64_t step, uint64_t now, uint32_t flags) {
    sum_ns_ += now - began_ns_;
    last_ns_ = now;
    ++steps_;
    if (flags != 0) spoiled_ = true;
    return step % kEvery == kSteps - 1 && steps_ == kSteps && !spoiled_ &&
           step - first_step_ == kSteps - 1;
  }

  // Something else happened inside the window, or its plan changed.
  void Spoil() { spoiled_ = true; }

  uint64_t first_step() const { return first_step_; }
  uint64_t SumNs() const { return sum_ns_; }
  uint64_t SpanNs() const { return last_ns_ - first_ns_; }

 private:
  uint64_t first_step_ = 0;
  uint64_t first_ns_ = 0;
  uint64_t began_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t sum_ns_ = 0;
  uint32_t steps_ = 0;
  bool spoiled_ = true;
};

}  // namespace blazed::shim
