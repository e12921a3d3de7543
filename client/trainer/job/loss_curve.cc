#include "client/trainer/job/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace blazed::trainer {
namespace {

constexpr double kWeight = 0.05;
constexpr size_t kFoldFloats = 4096;

}  // namespace

void LossCurve::Add(float loss) {
  if (count_ == 0) {
    first_ = loss;
    smoothed_ = loss;
  } else if (std::isfinite(loss)) {
    smoothed_ += kWeight * (loss - smoothed_);
  } else {
    smoothed_ = loss;
  }
  if (count_ % stride_ == 0) points_.emplace_back(count_, smoothed_);
  if (points_.size() > kMostPoints) {
    // Every second point goes, so that the rest stays evenly spread.
    for (size_t i = 1; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
    points_.resize((points_.size() + 1) / 2);
    stride_ *= 2;
  }
  ++count_;
  last_ = loss;
  unfolded_.push_back(loss);
  if (unfolded_.size() == kFoldFloats) Fold();
}

void LossCurve::Fold() {
  folded_ = Digest();
  unfolded_.clear();
}

graph::Hash128 LossCurve::Digest() const {
  std::string bytes(reinterpret_cast<const char*>(&folded_), sizeof folded_);
  bytes.append(reinterpret_cast<const char*>(unfolded_.data()), unfolded_.size() * sizeof(float));
  return graph::HashText(bytes);
}

}  // namespace blazed::trainer
