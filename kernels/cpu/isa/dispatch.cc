#include "kernels/cpu/isa/table.h"

namespace blazed::cpu {
namespace {

bool HasV3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool HasV4() {
#if defined(__x86_64__)
  return HasV3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace

const KernelTable& KernelsFor(int level) {
  const int wanted = level == 0 ? 4 : level;
  if (wanted >= 4 && HasV4() && KernelsV4() != nullptr) return *KernelsV4();
  if (wanted >= 3 && HasV3() && KernelsV3() != nullptr) return *KernelsV3();
  return *KernelsV1();
}

int64_t ColumnSumStateFloats(int64_t rows, int64_t cols) {
  int64_t levels = 1;
  for (int64_t chunks = (rows + kColumnChunkRows - 1) / kColumnChunkRows; chunks > 1; chunks /= 2) {
    ++levels;
  }
  return (1 + levels) * cols;
}

int64_t AttentionWeightsFloats(int64_t batch, int64_t heads, int64_t seq) {
  return batch * heads * seq * PaddedLanes(seq);
}

int64_t AttentionScratchFloats(int64_t seq, int64_t dim) {
  const int64_t padded_dim = PaddedLanes(dim);
  const int64_t packed = dim * PaddedLanes(seq);  // one of K, V transposed
  const int64_t block = kQueryBlock * PaddedLanes(kKeyBlock);
  const int64_t rows = kQueryBlock * (padded_dim + 4);  // an output block and its row numbers
  // Two packed operands, dK and dV of one head, two score blocks, one output block, and the
  // materialised backward's whole score gradient of one head.
  return 2 * packed + 2 * seq * padded_dim + 2 * block + rows + seq * PaddedLanes(seq) + 4 * seq;
}

}  // namespace blazed::cpu
