#include "daemon/planner/step_watch.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/scale.h"

namespace blazed::planner {

bool StepWatch::Add(double log_step) {
  if (!std::isfinite(log_step)) return false;
  if (first_.size() < kReferenceWindows) {
    first_.push_back(log_step);
    if (first_.size() < kReferenceWindows) return false;
    reference_ = Median(first_);
    std::vector<double> distances;
    for (double x : first_) distances.push_back(std::fabs(x - reference_));
    spread_ = std::max(kLeastSpread, 1.4826 * Median(distances));
    above_ = below_ = 0;
    return false;
  }
  const double z = std::clamp((log_step - reference_) / spread_, -kReach, kReach);
  above_ = std::max(0.0, above_ + z - kSlack);
  below_ = std::max(0.0, below_ - z - kSlack);
  if (above_ <= kAlarmAt && below_ <= kAlarmAt) return false;
  first_.clear();
  return true;
}

}  // namespace blazed::planner
