#include "daemon/planner/scale.h"

#include <algorithm>
#include <cmath>

namespace blazed::planner {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return 0.5 * (*at + *std::max_element(values.begin(), at));
}

void ScaleRing::Push(double residual) {
  if (!std::isfinite(residual)) return;
  ring_.push_back(std::fabs(residual));
  if (ring_.size() > kSize) ring_.pop_front();
  if (ring_.size() < 3) return;
  const double median = Median(std::vector<double>(ring_.begin(), ring_.end()));
  scale_ = std::max(kFloor, 1.4826 * median);
}

}  // namespace blazed::planner
