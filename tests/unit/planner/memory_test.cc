// What a tuning keeps in memory. A program of its own, because it counts every allocation.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "client/sim/whole_tunings.h"

namespace {

std::atomic<size_t> live{0}, peak{0};

}  // namespace

// Not inlined: the compiler would see malloc where delete is called.
[[gnu::noinline]] void* operator new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = live += malloc_usable_size(memory);
  if (now > peak) peak = now;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  live -= malloc_usable_size(memory);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  live -= malloc_usable_size(memory);
  std::free(memory);
}

namespace blazed::sim {
namespace {

constexpr size_t kMost = 16u << 20;

// The simulated host and its workload are counted too, so the planner keeps less than this.
size_t PeakOf(const TableSettings& settings) {
  const CostTable table(settings, 11);
  peak = live.load();
  const size_t before = live;
  const SearchRun run = RunSearch(table, {}, 12);
  EXPECT_GT(run.builds, 0u);
  return peak - before;
}

TEST(Memory, ATuningOf134BoundariesKeepsLessThan16MiB) {
  const size_t most = PeakOf(TableOf(134));
  RecordProperty("peak_bytes", static_cast<int64_t>(most));
  EXPECT_GT(most, 100'000u) << "nothing was counted";
  EXPECT_LT(most, kMost);
}

}  // namespace
}  // namespace blazed::sim
