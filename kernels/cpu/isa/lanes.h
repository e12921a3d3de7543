// Sixteen f32 lanes, whatever the vector width. Every level does the same IEEE operations lane by
// lane, so a kernel written with them gives the same bits at every level. Included once by each
// level's translation unit, inside that level's namespace (BLAZED_ISA): no symbol is shared between
// levels, so the linker cannot hand code for a wide processor to a narrow one.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include "kernels/cpu/isa/lanes_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "kernels/cpu/isa/lanes_avx2.h"
#else
#include "kernels/cpu/isa/lanes_portable.h"
#endif

namespace blazed::cpu::BLAZED_ISA {

inline constexpr int kLanes = 16;

}  // namespace blazed::cpu::BLAZED_ISA
