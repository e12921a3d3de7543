#include "daemon/planner/sampler.h"

#include <algorithm>
#include <cmath>

namespace blazed::planner {

// Right-looking, into the upper factor: the inner loops run along rows, so that the compiler
// vectorises them without re-ordering a sum.
Sampler::Sampler(const Surrogate& surrogate)
    : mean_(surrogate.mean()), factor_(surrogate.covariance()) {
  const size_t d = mean_.size();
  for (size_t k = 0; k < d; ++k) {
    double* row = &factor_[k * d];
    const double pivot = std::sqrt(std::max(row[k], 1e-14));
    row[k] = pivot;
    for (size_t j = k + 1; j < d; ++j) row[j] /= pivot;
    for (size_t i = k + 1; i < d; ++i) {
      const double f = row[i];
      if (f == 0) continue;
      double* other = &factor_[i * d];
      for (size_t j = i; j < d; ++j) other[j] -= f * row[j];
    }
  }
}

std::vector<double> Sampler::Draw(Random& random) const {
  const size_t d = mean_.size();
  std::vector<double> weights = mean_;
  for (size_t k = 0; k < d; ++k) {
    const double z = random.Normal();
    const double* row = &factor_[k * d];
    for (size_t j = k; j < d; ++j) weights[j] += z * row[j];
  }
  return weights;
}

}  // namespace blazed::planner
