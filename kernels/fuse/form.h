#pragma once

#include <cstdint>

namespace blazed::fuse {

// Constants of the numeric form for products by the library: what the library is called with
// decides the order of its additions, so these are fixed for every plan that promises the same
// bits. The fixed orders of sums that blazed computes itself are in kernels/cpu/isa/tile_args.h.
inline constexpr int64_t kGemmPanelRows = 64;     // rows of the left operand a call
inline constexpr int64_t kGemmSegmentRows = 256;  // rows a call of a weight gradient, ascending
inline constexpr int64_t kSplitMinimum = 256;     // inner size from which split_k is offered

}  // namespace blazed::fuse
