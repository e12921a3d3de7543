#include "daemon/planner/random.h"

#include <bit>
#include <cmath>

namespace blazed::planner {

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15ULL;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    word = z ^ (z >> 31);
  }
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

// Marsaglia's polar method; the second value of a pair is kept for the next call.
double Random::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double a = 0, b = 0, q = 0;
  do {
    a = 2 * Uniform() - 1;
    b = 2 * Uniform() - 1;
    q = a * a + b * b;
  } while (q >= 1 || q == 0);
  const double m = std::sqrt(-2 * std::log(q) / q);
  spare_ = b * m;
  has_spare_ = true;
  return a * m;
}

}  // namespace blazed::planner
