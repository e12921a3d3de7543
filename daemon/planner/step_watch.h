// A passive watch on the settled plan's own step times. It only ever triggers a drift check; it
// never demotes. One for each session.
//
// Two rules on the same numbers, windows that lie hundreds of steps apart. A jump: one window far
// from the last few calls at once, because the next one is hundreds of steps away. A shift: a CUSUM
// (Page 1954) against a fixed reference collects what single windows do not show. Both begin anew
// with the window that raised an alarm, the jump rule without a pause: it keeps the spread that it
// learned.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace blazed::planner {

class JumpRule {
 public:
  static constexpr size_t kFirstWindows = 8;  // before the spread is known
  static constexpr size_t kLevelWindows = 3, kSpreadWindows = 32;
  static constexpr double kJump = 2.5;  // in spreads, the error of the level included
  static constexpr double kLeastSpread = 0.001;

  bool Add(double log_step);
  void BeginAt(double log_step) { level_ = {log_step}; }

 private:
  std::deque<double> level_;      // the last windows
  std::deque<double> distances_;  // of windows from their level, as one window scatters
};

class ShiftRule {
 public:
  static constexpr size_t kReferenceWindows = 8;
  static constexpr double kAlarmAt = 8, kSlack = 1, kReach = 4;
  static constexpr double kLeastSpread = 0.001;

  bool Add(double log_step);
  void BeginAt(double log_step) { first_ = {log_step}; }

 private:
  void TakeReference();

  std::vector<double> first_;  // of the reference
  double reference_ = 0, spread_ = kLeastSpread;
  double above_ = 0, below_ = 0;
};

class StepWatch {
 public:
  // The log of a window's median step time. True on an alarm.
  bool Add(double log_step);

 private:
  JumpRule jump_;
  ShiftRule shift_;
};

}  // namespace blazed::planner
