#define BLAZED_ISA v1
#include "kernels/cpu/isa/level_table.h"

namespace blazed::cpu {

const KernelTable* KernelsV1() {
  static const KernelTable table = v1::MakeTable(1);
  return &table;
}

}  // namespace blazed::cpu
