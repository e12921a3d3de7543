// Thompson samples of a surrogate (linear Thompson sampling, Agrawal and Goyal 2013), by a Cholesky
// factor of its covariance: O(d^3) to make, O(d^2) a draw.
#pragma once

#include <vector>

#include "daemon/planner/random.h"
#include "daemon/planner/surrogate.h"

namespace blazed::planner {

class Sampler {
 public:
  // Of what the surrogate believes at this moment.
  explicit Sampler(const Surrogate& surrogate);

  std::vector<double> Draw(Random& random) const;

 private:
  std::vector<double> mean_, factor_;
};

}  // namespace blazed::planner
