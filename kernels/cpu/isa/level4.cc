// Compiled for x86-64-v4 only where the build targets x86-64; elsewhere the level does not exist.
#if defined(__AVX512F__)
#define BLAZED_ISA v4
#include "kernels/cpu/isa/level_table.h"

namespace blazed::cpu {

const KernelTable* KernelsV4() {
  static const KernelTable table = v4::MakeTable(4);
  return &table;
}

}  // namespace blazed::cpu

#else
#include "kernels/cpu/isa/table.h"

namespace blazed::cpu {

const KernelTable* KernelsV4() { return nullptr; }

}  // namespace blazed::cpu
#endif
