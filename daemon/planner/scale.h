// The predictable scale of pair differences: 1.4826 times the median size of the last 63 residuals
// of this session. Predictable means: computed from completed pairs only, before the next pair's
// coin. A bad scale costs power, never validity.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace blazed::planner {

double Median(std::vector<double> values);  // 0 for none

class ScaleRing {
 public:
  static constexpr size_t kSize = 63;
  static constexpr double kFloor = 1e-4;
  static constexpr double kUnknown = 0.02;  // until three pairs are in

  // Residual of a pair's log ratio against what was predicted for it.
  void Push(double residual);
  double scale() const { return scale_; }
  size_t count() const { return ring_.size(); }

 private:
  std::deque<double> ring_;
  double scale_ = kUnknown;
};

}  // namespace blazed::planner
