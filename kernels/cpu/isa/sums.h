// Canonical sums of the numeric form, independent of tiles and vector width.
#pragma once

#include "kernels/cpu/isa/lanes.h"
#include "kernels/cpu/isa/tile_args.h"

namespace blazed::cpu::BLAZED_ISA {

// Sum of f(i) for lanes i..i+15 over [0, n): 64-column segments, in each 16 lanes accumulate
// ascending from +0 and meet in a tree; segment totals are chained ascending. `f(offset, count)`
// loads up to 16 lanes, the missing ones zero.
template <class F>
inline float CanonicalSum(int64_t n, F f) {
  float total = 0.0f;
  for (int64_t begin = 0; begin < n; begin += kSegmentColumns) {
    const int64_t end = begin + kSegmentColumns < n ? begin + kSegmentColumns : n;
    V lanes = Broadcast(0.0f);
    for (int64_t i = begin; i < end; i += kLanes) {
      lanes = lanes + f(i, end - i < kLanes ? end - i : kLanes);
    }
    total = total + TreeSum(lanes);
  }
  return total;
}

inline V LoadUpTo(const float* p, int64_t count) {
  return count == kLanes ? Load(p) : LoadPart(p, count);
}
inline void StoreUpTo(float* p, int64_t count, V x) {
  if (count == kLanes) {
    Store(p, x);
  } else {
    StorePart(p, count, x);
  }
}

}  // namespace blazed::cpu::BLAZED_ISA
