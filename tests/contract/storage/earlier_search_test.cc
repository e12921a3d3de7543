// What every store remembers for forecasts: the searches of one user in one environment.
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/memory/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"

namespace blazed::storage {
namespace {

void RemembersSearches(Store& store) {
  const auto settle = [&](const TuningKey& key, planner::SettlementKind kind) {
    planner::SettlementRecord settlement = samples::Settlement(kind);
    settlement.default_step_ns = 10;
    settlement.cost.window = planner::Nanos(1000);
    settlement.cost.build = planner::Nanos(300);
    settlement.cost.probe = planner::Nanos(200);
    const auto tuning = samples::PutTuningWithParents(store, key);
    ASSERT_TRUE(tuning.ok()) << tuning.status();
    ASSERT_TRUE(store.PutSettlement(*tuning, settlement).ok());
  };
  settle(samples::Key(1000, 9), planner::SettlementKind::kNoWinner);
  // What a replication in another process cost was no search.
  settle(samples::Key(1000), planner::SettlementKind::kReplicated);
  settle(samples::Key(1001), planner::SettlementKind::kInJob);
  const auto tuning = samples::PutTuningWithParents(store, samples::Key(1000));
  ASSERT_TRUE(tuning.ok()) << tuning.status();
  const auto memory = store.LoadMemory(*tuning);
  ASSERT_TRUE(memory.ok()) << memory.status();
  // One boundary and a choice of three.
  EXPECT_THAT(memory->searches,
              ::testing::ElementsAre(planner::EarlierSearch{3, samples::Cost().builds, 50.0}));
}

TEST(EarlierSearches, OfTheUserAreRememberedByTheStoreInMemory) {
  MemoryStore store;
  RemembersSearches(store);
}

TEST(EarlierSearches, OfTheUserAreRememberedBySqlite) {
  TemporaryFolder folder;
  SqliteOptions options;
  options.folder = folder.path();
  auto store = SqliteStore::Open(options, nullptr);
  ASSERT_TRUE(store.ok()) << store.status();
  RemembersSearches(**store);
}

}  // namespace
}  // namespace blazed::storage
