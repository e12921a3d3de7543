// What reaches the store when the disk does not keep up, and what a log says of what did not.
#include "daemon/session/store_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "absl/synchronization/notification.h"
#include "daemon/base/quarantine.h"
#include "daemon/planner/replay.h"
#include "daemon/session/tuning_log.h"
#include "storage/memory/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/storage/samples.h"
#include "tests/contract/storage/temporary_folder.h"
#include "tests/fakes/manual_loop.h"

namespace blazed::session {
namespace {

namespace samples = storage::samples;
using storage::Durability;
using testing::HasSubstr;
using testing::SizeIs;

constexpr size_t kQueueLimit = 3;

// A memory store whose disk can be taken away, and that says how its last commit was meant.
class FailingStore : public storage::MemoryStore {
 public:
  struct Disk {
    std::atomic<bool> works{true};
    std::atomic<int> synced{0};
  };
  explicit FailingStore(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  absl::Status Commit(Durability durability) override {
    if (!disk_->works) {
      Rollback();
      return absl::UnavailableError("disk I/O error");
    }
    disk_->synced += durability == Durability::kSynced ? 1 : 0;
    return MemoryStore::Commit(durability);
  }

 private:
  const std::shared_ptr<Disk> disk_;
};

class StoreRecorderTest : public testing::Test {
 protected:
  void SetUp() override { Start(std::make_unique<storage::MemoryStore>()); }
  void TearDown() override { writer_->Stop(); }

  void Start(std::unique_ptr<storage::Store> store) {
    tuning_ = samples::PutTuningWithParents(*store, samples::Key()).value();
    storage::WriterOptions options;
    options.group_window = absl::ZeroDuration();
    options.queue_limit = kQueueLimit;
    options.synced_reserve = 1;
    options.first_retry = options.longest_retry = absl::Milliseconds(1);
    writer_ = std::make_unique<storage::Writer>(std::move(store), options);
    recorder_ = std::make_unique<StoreRecorder>(*writer_, loop_, quarantine_, [] {});
  }

  // The disk takes nothing until Release.
  void Hold() {
    absl::Notification holding;
    ASSERT_TRUE(writer_
                    ->Submit(Durability::kSynced,
                             [this, &holding](storage::Store&) {
                               holding.Notify();
                               release_.WaitForNotification();
                               return absl::OkStatus();
                             })
                    .ok());
    holding.WaitForNotification();
  }
  void Release() {
    release_.Notify();
    Flush();
  }
  void Flush() {
    ASSERT_TRUE(
        writer_->Run(Durability::kSynced, [](storage::Store&) { return absl::OkStatus(); }).ok());
  }

  void Open() {
    recorder_->KeepEvent(OpeningRow(tuning_, 1, {samples::Workload().spec, {}, {}, {}}));
  }
  void Tick(int second) {
    const planner::Event tick{std::chrono::seconds(second), planner::Tick{}};
    recorder_->KeepEvent(EventRowOf(tuning_, 0, second, tick));
  }
  uint64_t Settled() {
    uint64_t id = 0;
    recorder_->Settle(tuning_, samples::Settlement(), [&id](absl::StatusOr<uint64_t> stored) {
      ASSERT_TRUE(stored.ok()) << stored.status();
      id = *stored;
    });
    EXPECT_TRUE(loop_.RunUntil([&id] { return id != 0; }));
    return id;
  }
  storage::SettlementState State(uint64_t settlement) {
    const auto rows = writer_->NewReader()->Settlements({});
    EXPECT_TRUE(rows.ok()) << rows.status();
    for (const auto& row : *rows) {
      if (row.record.id == settlement) return row.state;
    }
    ADD_FAILURE() << "no settlement " << settlement;
    return storage::SettlementState::kSuperseded;
  }
  std::vector<std::string> Logs() {
    auto logs = ReadTuningLogs(*writer_->NewReader(), tuning_);
    EXPECT_TRUE(logs.ok()) << logs.status();
    return *logs;
  }

  fakes::ManualLoop loop_;
  Quarantine quarantine_;
  absl::Notification release_;
  storage::TuningId tuning_ = 0;
  std::unique_ptr<storage::Writer> writer_;
  std::unique_ptr<StoreRecorder> recorder_;
};

TEST_F(StoreRecorderTest, AWholeLogReplaysToItsEnd) {
  Open();
  Tick(1);
  Flush();
  Tick(2);
  Flush();
  ASSERT_THAT(Logs(), SizeIs(1));
  const planner::ReplayResult result = planner::Replay(Logs()[0]);
  EXPECT_TRUE(result.complete) << result.error;
  EXPECT_EQ(result.events, 2u);
  EXPECT_EQ(recorder_->dropped(), 0u);
}

TEST_F(StoreRecorderTest, RowsThatAFullQueueDropsAreCountedAndAReplayStopsAtTheirPlace) {
  Hold();
  Open();
  Tick(1);
  Tick(2);
  Tick(3);  // one more than the queue takes
  Tick(4);
  Release();
  Tick(5);
  Flush();
  loop_.RunReady();
  EXPECT_EQ(recorder_->dropped(), 2u);
  EXPECT_TRUE(quarantine_.cause().ok()) << "a slow disk is no end";
  ASSERT_THAT(Logs(), SizeIs(1));
  const planner::ReplayResult result = planner::Replay(Logs()[0]);
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.error,
            "line 4: up to 2 lines are missing here (the queue to the disk was full): what was "
            "decided behind the gap cannot be decided again");
  EXPECT_EQ(result.events, 2u) << "what stands before the gap is decided again";
}

TEST_F(StoreRecorderTest, TheNextOpeningBeginsALogWithoutTheGap) {
  Hold();
  Open();
  Tick(1);
  Tick(2);
  Tick(3);
  Release();
  Open();
  Tick(4);
  Flush();
  ASSERT_THAT(Logs(), SizeIs(2));
  EXPECT_THAT(planner::Replay(Logs()[0]).error, HasSubstr("missing here"));
  EXPECT_TRUE(planner::Replay(Logs()[1]).complete);
}

TEST_F(StoreRecorderTest, ADroppedNoticeIsNoGapOfTheLog) {
  Hold();
  Open();
  Tick(1);
  Tick(2);
  recorder_->KeepEvent({0, tuning_, 0, 1, "race_won", "a sentence"});
  Release();
  Tick(3);
  Flush();
  loop_.RunReady();
  EXPECT_EQ(recorder_->dropped(), 1u);
  EXPECT_TRUE(planner::Replay(Logs()[0]).complete);
}

TEST_F(StoreRecorderTest, ADamagedRowIsAGapOfEveryLogItMayBelongTo) {
  storage::TemporaryFolder folder;
  storage::SqliteOptions options;
  options.folder = folder.path();
  auto store = storage::SqliteStore::Open(options, nullptr);
  ASSERT_TRUE(store.ok()) << store.status();
  const std::string database = (*store)->names().database();
  writer_->Stop();
  Start(*std::move(store));
  Open();
  Tick(1);
  Flush();
  Tick(2);
  Tick(3);
  Flush();
  {
    auto raw = storage::Connection::Open(database, storage::Access::kReadWrite);
    ASSERT_TRUE(raw.ok()) << raw.status();
    ASSERT_TRUE((*raw)->Run("UPDATE event SET wall_ns=77 WHERE id=3").ok());
  }
  const planner::ReplayResult result = planner::Replay(Logs()[0]);
  EXPECT_THAT(result.error, HasSubstr("line 3: up to 1 lines are missing here (damaged rows"));
  EXPECT_EQ(result.events, 1u);
}

TEST_F(StoreRecorderTest, ADemotionFindsNoQueueFull) {
  const uint64_t settlement = Settled();
  Hold();
  const auto nothing = [](storage::Store&) { return absl::OkStatus(); };
  while (writer_->Submit(Durability::kSynced, nothing).ok()) continue;
  recorder_->KeepRow(tuning_, planner::DemoteSettlement{settlement, "slower by now"});
  release_.Notify();
  EXPECT_TRUE(
      loop_.RunUntil([&] { return State(settlement) == storage::SettlementState::kDemoted; }));
  EXPECT_EQ(recorder_->dropped(), 0u);
}

TEST_F(StoreRecorderTest, ADemotionIsSynced) {
  writer_->Stop();
  const auto disk = std::make_shared<FailingStore::Disk>();
  Start(std::make_unique<FailingStore>(disk));
  const uint64_t settlement = Settled();
  const int before = disk->synced;
  recorder_->KeepRow(tuning_, planner::DemoteSettlement{settlement, "slower by now"});
  writer_->Stop();
  EXPECT_EQ(disk->synced, before + 1);
}

TEST_F(StoreRecorderTest, ADemotionWaitsThroughAnOutageAndNobodyIsServedThePlanAfterIt) {
  writer_->Stop();
  const auto disk = std::make_shared<FailingStore::Disk>();
  Start(std::make_unique<FailingStore>(disk));
  const uint64_t settlement = Settled();
  disk->works = false;
  recorder_->KeepRow(tuning_, planner::DemoteSettlement{settlement, "slower by now"});
  EXPECT_FALSE(
      writer_->Run(Durability::kSynced, [](storage::Store&) { return absl::OkStatus(); }).ok());
  EXPECT_EQ(State(settlement), storage::SettlementState::kInForce);
  disk->works = true;
  Description description;
  description.key = samples::Key();
  description.environment = samples::Environment();
  description.graphs = {samples::Graph()};
  description.workload = samples::Workload();
  description.workload.spec.fingerprint = description.key.workload;
  description.session = samples::Session(1, 0);
  std::optional<absl::StatusOr<OpenedTuning>> opened;
  recorder_->OpenTuning(description,
                        [&opened](absl::StatusOr<OpenedTuning> o) { opened = std::move(o); });
  ASSERT_TRUE(loop_.RunUntil([&opened] { return opened.has_value(); }));
  ASSERT_TRUE(opened->ok()) << opened->status();
  EXPECT_FALSE((*opened)->memory.settlement.has_value());
  EXPECT_EQ(State(settlement), storage::SettlementState::kDemoted);
  EXPECT_EQ(recorder_->dropped(), 0u);
}

TEST_F(StoreRecorderTest, DamageEndsInQuarantine) {
  absl::Status answer;
  EXPECT_FALSE(
      writer_->Run(Durability::kSynced, [](storage::Store&) { return absl::DataLossError("page"); })
          .ok());
  recorder_->OpenSession(samples::Session(0, 0), [&answer](absl::StatusOr<planner::SessionId> id) {
    answer = id.status();
  });
  ASSERT_TRUE(loop_.RunUntil([&answer] { return !answer.ok(); }));
  EXPECT_EQ(answer.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(quarantine_.cause(), absl::DataLossError("page"));
}

}  // namespace
}  // namespace blazed::session
