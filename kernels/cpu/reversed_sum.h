#pragma once

#include "kernels/cpu/isa/tile_args.h"

namespace blazed::cpu {

// A row sum from the last column to the first: what Fault::Kind::kReorderSums runs in place of the
// canonical order.
inline void ReversedRowSum(const TileArgs& args) {
  for (int64_t r = 0; r < args.rows; ++r) {
    float sum = 0.0f;
    for (int64_t c = args.cols; c-- > 0;) sum += args.in[0][r * args.cols + c];
    args.out[r] = args.alpha * sum;
  }
}

}  // namespace blazed::cpu
