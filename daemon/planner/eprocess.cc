#include "daemon/planner/eprocess.h"

#include <algorithm>
#include <cmath>

namespace blazed::planner {

double ClippedScore(double x, double scale) { return std::clamp(x / (kClip * scale), -1.0, 1.0); }

void ClippedBet::AddScore(double score) {
  for (size_t j = 0; j < kBets.size(); ++j) log_[j] += std::log1p(kBets[j] * score);
  ++count_;
}

ClippedBet ClippedBet::Without(const ClippedBet& part) const {
  ClippedBet rest = *this;
  for (size_t j = 0; j < kBets.size(); ++j) rest.log_[j] -= part.log_[j];
  rest.count_ -= part.count_;
  return rest;
}

double ClippedBet::LogE() const {
  const double top = *std::max_element(log_.begin(), log_.end());
  double sum = 0;
  for (double value : log_) sum += std::exp(value - top);
  return top + std::log(sum / static_cast<double>(log_.size()));
}

}  // namespace blazed::planner
