// The planner's own random numbers: xoshiro256** (Blackman and Vigna) seeded by splitmix64. The
// seed comes in with SessionReady, so one event log gives one sequence. Not for secrets.
#pragma once

#include <array>
#include <cstdint>

namespace blazed::planner {

class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  double Uniform();  // [0, 1)
  double Normal();   // mean 0, sd 1
  bool Coin() { return (Next() >> 63) != 0; }
  uint64_t Below(uint64_t n) { return n == 0 ? 0 : Next() % n; }

 private:
  std::array<uint64_t, 4> state_{};
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace blazed::planner
