#include "daemon/planner/step_watch.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

void Push(std::deque<double>& ring, double value, size_t most) {
  ring.push_back(value);
  if (ring.size() > most) ring.pop_front();
}

double MedianOf(const std::deque<double>& values) {
  return Median(std::vector<double>(values.begin(), values.end()));
}

}  // namespace

bool JumpRule::Add(double log_step) {
  if (level_.empty()) {
    BeginAt(log_step);
    return false;
  }
  // A level of n windows is itself uncertain: the distance to it scatters by sqrt(1 + 1/n).
  const double n = static_cast<double>(level_.size());
  const double distance = std::fabs(log_step - MedianOf(level_)) / std::sqrt(1 + 1 / n);
  if (distances_.size() >= kFirstWindows - 1) {
    const double spread = std::max(kLeastSpread, 1.4826 * MedianOf(distances_));
    if (distance > kJump * spread) return true;
  }
  Push(distances_, distance, kSpreadWindows);
  Push(level_, log_step, kLevelWindows);
  return false;
}

bool ShiftRule::Add(double log_step) {
  if (first_.size() < kReferenceWindows) {
    first_.push_back(log_step);
    if (first_.size() == kReferenceWindows) TakeReference();
    return false;
  }
  const double z = std::clamp((log_step - reference_) / spread_, -kReach, kReach);
  above_ = std::max(0.0, above_ + z - kSlack);
  below_ = std::max(0.0, below_ - z - kSlack);
  return above_ > kAlarmAt || below_ > kAlarmAt;
}

void ShiftRule::TakeReference() {
  reference_ = Median(first_);
  std::vector<double> distances;
  for (const double x : first_) distances.push_back(std::fabs(x - reference_));
  spread_ = std::max(kLeastSpread, 1.4826 * Median(distances));
  above_ = below_ = 0;
}

bool StepWatch::Add(double log_step) {
  if (!std::isfinite(log_step)) return false;
  const bool jump = jump_.Add(log_step);
  const bool shift = shift_.Add(log_step);
  if (!jump && !shift) return false;
  jump_.BeginAt(log_step);
  shift_.BeginAt(log_step);
  return true;
}

}  // namespace blazed::planner
