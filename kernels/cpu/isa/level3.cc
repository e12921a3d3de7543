// Compiled for x86-64-v3 only where the build targets x86-64; elsewhere the level does not exist.
#if defined(__AVX2__) && defined(__FMA__)
#define BLAZED_ISA v3
#include "kernels/cpu/isa/level_table.h"

namespace blazed::cpu {

const KernelTable* KernelsV3() {
  static const KernelTable table = v3::MakeTable(3);
  return &table;
}

}  // namespace blazed::cpu

#else
#include "kernels/cpu/isa/table.h"

namespace blazed::cpu {

const KernelTable* KernelsV3() { return nullptr; }

}  // namespace blazed::cpu
#endif
