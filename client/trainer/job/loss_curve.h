#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/graph/hash128.h"

namespace blazed::trainer {

// The losses of a run: smoothed for people, thinned for the report, digested bit for bit so that
// two runs can be compared without keeping every number.
class LossCurve {
 public:
  // Points that a report keeps at most.
  static constexpr size_t kMostPoints = 128;

  void Add(float loss);

  int64_t count() const { return count_; }
  float first() const { return first_; }
  float last() const { return last_; }
  // Exponential mean over about the last 20 steps.
  double smoothed() const { return smoothed_; }
  // (step, smoothed loss), evenly spread over the run.
  const std::vector<std::pair<int64_t, double>>& points() const { return points_; }
  // Equal exactly where every loss so far was bit-equal.
  graph::Hash128 Digest() const;

 private:
  void Fold();

  int64_t count_ = 0;
  float first_ = 0;
  float last_ = 0;
  double smoothed_ = 0;
  int64_t stride_ = 1;
  std::vector<std::pair<int64_t, double>> points_;
  std::vector<float> unfolded_;
  graph::Hash128 folded_;
};

}  // namespace blazed::trainer
