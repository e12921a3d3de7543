#pragma once

#include <cstdint>

namespace blazed::cpu {

// Random numbers as a pure function of (seed, stream, index): the same on every machine, whatever
// is drawn before.

// SplitMix64's output function (Steele, Lea and Flood, 2014) over a mixed counter.
inline uint64_t BitsAt(uint64_t seed, uint64_t stream, uint64_t index) {
  uint64_t z = seed * 0x9e3779b97f4a7c15ull + stream * 0xd1b54a32d192ed03ull +
               (index + 1) * 0x8cb92ba72f3d8dd7ull;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  return z;
}

// Uniform in [0, 1).
inline float UniformAt(uint64_t seed, uint64_t stream, uint64_t index) {
  return static_cast<float>(BitsAt(seed, stream, index) >> 40) * 0x1p-24f;
}

// Close to a standard normal: the sum of eight 16-bit uniforms, centred and scaled to unit
// variance. Needs no function of the math library.
inline float NormalAt(uint64_t seed, uint64_t stream, uint64_t index) {
  int64_t sum = 0;
  for (uint64_t word = 0; word < 2; ++word) {
    const uint64_t bits = BitsAt(seed, stream, 2 * index + word);
    for (int part = 0; part < 4; ++part)
      sum += static_cast<int64_t>((bits >> (16 * part)) & 0xffff);
  }
  // Variance of one uniform over 65536 values is 65536^2/12; of eight, 65536^2 * 2/3.
  constexpr float kScale = 1.0f / (65536.0f * 0.81649658f);
  return static_cast<float>(sum - 4 * 65535) * kScale;
}

}  // namespace blazed::cpu
