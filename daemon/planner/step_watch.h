// A passive watch on the settled plan's own step times: a CUSUM (Page 1954) over service windows.
// It only ever triggers a drift check; it never demotes. One for each session.
#pragma once

#include <cstddef>
#include <vector>

namespace blazed::planner {

class StepWatch {
 public:
  static constexpr size_t kReferenceWindows = 8;
  static constexpr double kAlarmAt = 8, kSlack = 1, kReach = 4;
  static constexpr double kLeastSpread = 0.001;

  // The log of a window's mean step time. True on an alarm, after which the reference is taken
  // anew.
  bool Add(double log_step);

 private:
  std::vector<double> first_;  // of the reference that is being taken
  double reference_ = 0, spread_ = kLeastSpread;
  double above_ = 0, below_ = 0;
};

}  // namespace blazed::planner
