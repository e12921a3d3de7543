// What every store promises of the kernels of plans.
#include <functional>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/memory/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"

namespace blazed::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kKept = 3;
constexpr WallNs kNow = 1'000'010;

using Promise = std::function<void(Store&)>;

void OnEveryStore(const Promise& promise) {
  {
    SCOPED_TRACE("memory");
    MemoryOptions options;
    options.clock = [] { return kNow; };
    options.kernels_kept = kKept;
    MemoryStore store(options);
    promise(store);
  }
  SCOPED_TRACE("SQLite");
  TemporaryFolder folder;
  SqliteOptions options;
  options.folder = folder.path();
  options.clock = [] { return kNow; };
  options.kernels_kept = kKept;
  auto store = SqliteStore::Open(options, nullptr);
  ASSERT_TRUE(store.ok()) << store.status();
  promise(**store);
}

TEST(StoredKernels, AreThoseOfThePlanAndTheNewestAlone) {
  OnEveryStore([](Store& store) {
    const TuningId tuning = *samples::PutTuningWithParents(store, samples::Key());
    const TuningId other = *samples::PutTuningWithParents(store, samples::Key(1001));
    ASSERT_TRUE(store.PutKernels(tuning, samples::Kernels()).ok());
    PlanKernels again = samples::Kernels();
    again.session = 9;
    again.after.kernels.clear();
    ASSERT_TRUE(store.PutKernels(tuning, again).ok());
    const auto reader = store.NewReader();
    const auto kernels = reader->Kernels(tuning, again.plan);
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    ASSERT_TRUE(kernels->has_value());
    EXPECT_EQ((*kernels)->record, again);
    EXPECT_EQ((*kernels)->tuning, tuning);
    EXPECT_EQ((*kernels)->seen_ns, kNow);
    EXPECT_EQ(*reader->Kernels(other, again.plan), std::nullopt);
    EXPECT_EQ(*reader->Kernels(tuning, {{1, 2}}), std::nullopt);
    EXPECT_THAT(store.LoadMemory(tuning)->with_kernels, ElementsAre(again.plan));
    EXPECT_THAT(store.LoadMemory(other)->with_kernels, IsEmpty());
  });
}

TEST(StoredKernels, ThatWereToldFirstArePruned) {
  OnEveryStore([](Store& store) {
    const TuningId tuning = *samples::PutTuningWithParents(store, samples::Key());
    for (uint32_t option = 1; option <= 5; ++option) {
      ASSERT_TRUE(store.PutKernels(tuning, samples::Kernels(option)).ok());
    }
    EXPECT_EQ(*store.Prune(), 2u);
    for (uint32_t option = 1; option <= 5; ++option) {
      EXPECT_EQ(store.NewReader()->Kernels(tuning, {{1, option}})->has_value(), option > 2);
    }
  });
}

}  // namespace
}  // namespace blazed::storage
