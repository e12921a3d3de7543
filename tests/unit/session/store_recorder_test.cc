// What reaches the store when the disk does not keep up, and what a log says of what did not.
#include "daemon/session/store_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

class StoreRecorderTest : public testing::Test {
 protected:
  void SetUp() override { Start(std::make_unique<storage::MemoryStore>()); }
  void TearDown() override { writer_->Stop(); }

  void Start(std::unique_ptr<storage::Store> store) {
    tuning_ = samples::PutTuningWithParents(*store, samples::Key()).value();
    storage::WriterOptions options;
    options.group_window = absl::ZeroDuration();
    options.queue_limit = kQueueLimit;
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
