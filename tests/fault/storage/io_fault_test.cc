// Failing disks and power cuts, through the fault VFS.
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/writer.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"
#include "tests/fault/storage/fault_vfs.h"

namespace blazed::storage {
namespace {

constexpr int kSettlements = 3;

// What a daemon told its sessions.
struct Announced {
  std::set<uint64_t> settlements;
  uint64_t epoch = 0;
};

SqliteOptions Options(const std::string& folder, const std::string& vfs) {
  SqliteOptions options;
  options.folder = folder;
  options.vfs = vfs;
  options.checkpoint_pages = 8;  // so that commits move the log too
  return options;
}

absl::Status SettleOne(Store& store, TuningId tuning, uint32_t option, Announced& announced) {
  absl::Status status = store.Begin();
  if (status.ok()) status = store.PutPlan(tuning, samples::Plan(option));
  uint64_t id = 0;
  if (status.ok()) {
    absl::StatusOr<uint64_t> settlement = store.PutSettlement(tuning, samples::Settlement());
    status = settlement.status();
    id = settlement.value_or(0);
  }
  if (status.ok()) status = store.Commit(Durability::kSynced);
  if (!status.ok()) {
    store.Rollback();
    return status;
  }
  announced.settlements.insert(id);
  return absl::OkStatus();
}

// A daemon's life in short. Ends at the first error, as the daemon does.
absl::Status Live(const std::string& folder, const std::string& vfs, Announced& announced) {
  absl::StatusOr<std::unique_ptr<SqliteStore>> store =
      SqliteStore::Open(Options(folder, vfs), nullptr);
  if (!store.ok()) return store.status();
  announced.epoch = (*store)->epoch();
  absl::StatusOr<TuningId> tuning = samples::PutTuningWithParents(**store, samples::Key());
  if (!tuning.ok()) return tuning.status();
  for (uint32_t i = 1; i <= kSettlements; ++i) {
    absl::Status status = SettleOne(**store, *tuning, i, announced);
    if (!status.ok()) return status;
    status = (*store)->PutRace(*tuning, samples::Race(i));  // batched: may be lost
    if (!status.ok()) return status;
  }
  return (*store)->Checkpoint();
}

// Everything announced is there, nothing is damaged, and each settlement came with its plan.
void ExpectKept(const std::string& folder, const Announced& announced) {
  OpenReport report;
  absl::StatusOr<std::unique_ptr<SqliteStore>> store =
      SqliteStore::Open(Options(folder, ""), &report);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(report.state, OpenReport::State::kOk) << report.detail;
  EXPECT_GT((*store)->epoch(), announced.epoch);
  const std::unique_ptr<Reader> reader = (*store)->NewReader();
  auto settlements = reader->Settlements({});
  ASSERT_TRUE(settlements.ok()) << settlements.status();
  std::set<uint64_t> kept;
  for (const StoredSettlement& row : *settlements) kept.insert(row.record.id);
  for (const uint64_t id : announced.settlements) EXPECT_TRUE(kept.contains(id)) << id;
  EXPECT_EQ(reader->Plans({})->size(), kept.size()) << "a transaction is done fully or not at all";
  EXPECT_EQ((*store)->damaged_rows(), 0u);
}

class IoFault : public ::testing::TestWithParam<Repeat> {};

TEST_P(IoFault, LosesNothingAnnouncedWhicheverOperationFails) {
  FaultVfs faults;
  // Every operation in turn while the first ones last, then every third: the tail repeats the same
  // kinds.
  bool hit = true;
  for (uint64_t k = 1; hit; k += k < 24 ? 1 : 3) {
    SCOPED_TRACE(absl::StrCat("operation ", k));
    ASSERT_LT(k, 2000u) << "the sweep has no end";
    TemporaryFolder folder;
    Announced announced;
    faults.FailAt(k, GetParam());
    const absl::Status status = Live(folder.path(), FaultVfs::kName, announced);
    hit = faults.failed();
    faults.FailAt(0, Repeat::kOnce);
    if (!hit) {
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(announced.settlements.size(), static_cast<size_t>(kSettlements));
    }
    ExpectKept(folder.path(), announced);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IoFault, ::testing::Values(Repeat::kOnce, Repeat::kForEver),
                         [](const auto& info) {
                           return info.param == Repeat::kOnce ? "Once" : "ForEver";
                         });

TEST(IoFault, StopsDecidingAfterAFailedSyncOfASettlement) {
  FaultVfs faults;
  TemporaryFolder folder;
  auto store = SqliteStore::Open(Options(folder.path(), FaultVfs::kName), nullptr);
  ASSERT_TRUE(store.ok()) << store.status();
  const TuningId tuning = *samples::PutTuningWithParents(**store, samples::Key());
  ASSERT_TRUE((*store)->Begin().ok());
  ASSERT_TRUE((*store)->PutSettlement(tuning, samples::Settlement()).ok());
  faults.FailSyncs();
  EXPECT_FALSE((*store)->Commit(Durability::kSynced).ok());
  faults.FailAt(0, Repeat::kOnce);
  EXPECT_FALSE((*store)->PutPlan(tuning, samples::Plan()).ok());
  const absl::Status later = (*store)->Begin();
  EXPECT_EQ(later.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(later.message()), ::testing::HasSubstr("restart blazed"));
}

TEST(IoFault, GoesOnWithTheSameStoreWhicheverOperationFailedOnce) {
  FaultVfs faults;
  bool hit = true;
  for (uint64_t k = 1; hit; ++k) {
    SCOPED_TRACE(absl::StrCat("operation ", k));
    ASSERT_LT(k, 2000u) << "the sweep has no end";
    TemporaryFolder folder;
    auto store = SqliteStore::Open(Options(folder.path(), FaultVfs::kName), nullptr);
    ASSERT_TRUE(store.ok()) << store.status();
    Announced announced;
    announced.epoch = (*store)->epoch();
    const TuningId tuning = *samples::PutTuningWithParents(**store, samples::Key());
    faults.FailAt(k, Repeat::kOnce);
    for (uint32_t i = 1; i <= kSettlements; ++i) {
      absl::Status status = SettleOne(**store, tuning, i, announced);
      if (status.ok()) continue;
      if (absl::IsDataLoss(status)) break;  // a sync: nothing more is believed
      status = SettleOne(**store, tuning, i, announced);
      ASSERT_TRUE(status.ok()) << status;
    }
    hit = faults.failed();
    faults.FailAt(0, Repeat::kOnce);
    store->reset();
    ExpectKept(folder.path(), announced);
  }
}

TEST(FullDisk, HoldsWritingUpUntilThereIsRoomAgain) {
  FaultVfs faults;
  TemporaryFolder folder;
  auto store = SqliteStore::Open(Options(folder.path(), FaultVfs::kName), nullptr);
  ASSERT_TRUE(store.ok()) << store.status();
  const TuningId tuning = *samples::PutTuningWithParents(**store, samples::Key());
  WriterOptions options;
  options.first_retry = options.longest_retry = absl::Milliseconds(1);
  absl::Notification over;
  options.outage = [&over](const absl::Status& status) {
    if (status.ok()) over.Notify();
  };
  Writer writer(*std::move(store), options);
  const std::unique_ptr<Reader> reader = writer.NewReader();
  const auto settle = [&](uint64_t* id) {
    return writer.Run(Durability::kSynced, [tuning, id](Store& to) {
      absl::StatusOr<uint64_t> stored = to.PutSettlement(tuning, samples::Settlement());
      if (stored.ok()) *id = *stored;
      return stored.status();
    });
  };
  uint64_t first = 0, refused = 0, second = 0;
  ASSERT_TRUE(settle(&first).ok());

  faults.FillDisk();
  EXPECT_EQ(settle(&refused).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(writer.outage().has_value());
  ASSERT_TRUE(writer
                  .Submit(Durability::kBatched,
                          [tuning](Store& to) { return to.PutRace(tuning, samples::Race(1)); })
                  .ok());
  EXPECT_EQ(settle(&refused).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(reader->Settlements({})->size(), 1u)
      << "nothing that failed shows, and reading goes on";
  EXPECT_EQ(reader->Races({})->size(), 0u);

  faults.FreeDisk();
  over.WaitForNotification();
  EXPECT_TRUE(writer.health().ok());
  EXPECT_EQ(reader->Races({})->size(), 1u) << "what waited is written";
  ASSERT_TRUE(settle(&second).ok());
  EXPECT_EQ(second, first + 1);
  writer.Stop();
}

TEST(FullDisk, ASizeLimitThatIsReachedSpoilsOneTransactionOnly) {
  TemporaryFolder folder;
  SqliteOptions options = Options(folder.path(), "");
  options.max_bytes = 1 << 20;
  auto store = SqliteStore::Open(options, nullptr);
  ASSERT_TRUE(store.ok()) << store.status();
  const TuningId tuning = *samples::PutTuningWithParents(**store, samples::Key());
  Announced announced;
  ASSERT_TRUE(SettleOne(**store, tuning, 1, announced).ok());
  EventRow large = samples::Event(tuning, "large");
  large.payload.assign(100'000, 'x');
  absl::Status status;
  int rows = 0;
  for (; status.ok() && rows < 100; ++rows) status = (*store)->PutEvent(large).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  ASSERT_GT(rows, 1);
  EXPECT_EQ((*store)->NewReader()->LastEventId().value(), rows - 1);
  EXPECT_TRUE((*store)->PutPlan(tuning, samples::Plan(1)).ok()) << "a row that needs no page";
}

TEST(PowerCut, LosesNoAnnouncedSettlement) {
  constexpr unsigned kSeeds = 40;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937 random(seed);
    TemporaryFolder folder, after;
    FaultVfs faults;
    auto store = SqliteStore::Open(Options(folder.path(), FaultVfs::kName), nullptr);
    ASSERT_TRUE(store.ok()) << store.status();
    Announced announced;
    announced.epoch = (*store)->epoch();
    const TuningId tuning = *samples::PutTuningWithParents(**store, samples::Key());
    const uint32_t settlements = 1 + random() % 4;
    for (uint32_t i = 1; i <= settlements; ++i) {
      ASSERT_TRUE(SettleOne(**store, tuning, i, announced).ok());
    }
    // Unsynced rows on top, and perhaps an open transaction.
    const uint32_t races = random() % 4;
    for (uint32_t i = 1; i <= races; ++i) {
      ASSERT_TRUE((*store)->PutRace(tuning, samples::Race(i)).ok());
    }
    if (random() % 2 == 0) {
      ASSERT_TRUE((*store)->Begin().ok());
      ASSERT_TRUE((*store)->PutRace(tuning, samples::Race(99)).ok());
    }
    faults.WriteAfterPowerCut(after.path(), random);
    // Written and synced outside SQLite, so it survives as it is.
    std::filesystem::copy_file((*store)->names().identity(), after.path() + "/" + kIdentityFile);
    store->reset();
    ExpectKept(after.path(), announced);
  }
}

}  // namespace
}  // namespace blazed::storage
