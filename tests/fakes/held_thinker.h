// A thinker whose thoughts end when the test says so. The test's thread only.
#pragma once

#include <memory>
#include <utility>

#include "daemon/session/thinker.h"

namespace blazed::fakes {

class HeldThinker final : public session::Thinker {
 public:
  void Think(std::shared_ptr<const planner::Thought> thought, Answer answer) override {
    overlapped = overlapped || thought_ != nullptr;
    thought_ = std::move(thought);
    answer_ = std::move(answer);
    ++asked;
  }

  bool holds() const { return thought_ != nullptr; }
  // False where nothing is thought about.
  bool End() {
    if (thought_ == nullptr) return false;
    const auto thought = std::exchange(thought_, nullptr);
    const Answer answer = std::exchange(answer_, nullptr);
    answer(planner::Conclude(*thought));
    return true;
  }

  int asked = 0;
  bool overlapped = false;  // was asked before it had answered

 private:
  std::shared_ptr<const planner::Thought> thought_;
  Answer answer_;
};

}  // namespace blazed::fakes
