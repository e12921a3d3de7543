#include "storage/writer.h"

#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/memory/memory_store.h"
#include "tests/contract/storage/samples.h"

namespace blazed::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What happened to the store, seen from outside.
struct Log {
  std::vector<Durability> commits;
  int rollbacks = 0;
  int checkpoints = 0;
  absl::Status next_commit;  // what the next commit answers
};

// A memory store that keeps a log and can be told to fail; only the writer thread and, after Stop,
// the test touch it.
class LoggedStore : public MemoryStore {
 public:
  explicit LoggedStore(std::shared_ptr<Log> log) : log_(std::move(log)) {}
  absl::Status Commit(Durability durability) override {
    if (!log_->next_commit.ok()) {
      MemoryStore::Rollback();
      return log_->next_commit;
    }
    log_->commits.push_back(durability);
    return MemoryStore::Commit(durability);
  }
  void Rollback() override {
    ++log_->rollbacks;
    MemoryStore::Rollback();
  }
  absl::Status Checkpoint() override {
    ++log_->checkpoints;
    return MemoryStore::Checkpoint();
  }

 private:
  const std::shared_ptr<Log> log_;
};

// Nothing is written by a clock: only a synced request or Stop ends a group.
WriterOptions Patient() {
  WriterOptions options;
  options.group_window = absl::InfiniteDuration();
  return options;
}

Writer::Request PutEvent(const char* kind) {
  return [kind](Store& store) { return store.PutEvent(samples::Event(0, kind)).status(); };
}

class WriterTest : public ::testing::Test {
 protected:
  std::unique_ptr<Writer> Make(WriterOptions options = Patient()) {
    return std::make_unique<Writer>(std::make_unique<LoggedStore>(log_), std::move(options));
  }
  std::shared_ptr<Log> log_ = std::make_shared<Log>();
};

TEST_F(WriterTest, CommitsBatchedRowsTogetherAndTheSyncedOneWithThem) {
  auto writer = Make();
  std::vector<int> done;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(writer
                    ->Submit(Durability::kBatched, PutEvent("batched"),
                             [&done, i](const absl::Status& status) {
                               EXPECT_TRUE(status.ok()) << status;
                               done.push_back(i);
                             })
                    .ok());
  }
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("synced")).ok());
  writer->Stop();
  EXPECT_THAT(log_->commits, ElementsAre(Durability::kSynced));
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(*writer->NewReader()->LastEventId(), 6);
}

TEST_F(WriterTest, EndsAGroupAtItsSize) {
  WriterOptions options = Patient();
  options.group_size = 3;
  auto writer = Make(options);
  absl::Notification third;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(writer
                    ->Submit(Durability::kBatched, PutEvent("x"),
                             [&, i](const absl::Status&) {
                               if (i == 2) third.Notify();
                             })
                    .ok());
  }
  third.WaitForNotification();
  writer->Stop();
  ASSERT_FALSE(log_->commits.empty());
  EXPECT_EQ(*writer->NewReader()->LastEventId(), 3);
}

TEST_F(WriterTest, RefusesOneRequestAndKeepsTheOthers) {
  auto writer = Make();
  absl::Status refused, kept;
  ASSERT_TRUE(writer
                  ->Submit(
                      Durability::kBatched,
                      [](Store& store) {
                        absl::Status status = store.PutEvent(samples::Event(0, "half")).status();
                        return status.ok() ? store.PutPlan(99, samples::Plan()) : status;
                      },
                      [&](const absl::Status& status) { refused = status; })
                  .ok());
  ASSERT_TRUE(writer
                  ->Submit(Durability::kBatched, PutEvent("kept"),
                           [&](const absl::Status& status) { kept = status; })
                  .ok());
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("synced")).ok());
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(kept.ok()) << kept;
  EXPECT_TRUE(writer->health().ok());
  auto events = writer->NewReader()->Events({});
  ASSERT_THAT(*events, SizeIs(2));
  EXPECT_EQ(events->front().kind, "kept") << "nothing of the refused request stays";
  writer->Stop();
}

TEST_F(WriterTest, StopsDecidingAfterAFailedCommitAndNamesTheFirstCause) {
  auto writer = Make();
  log_->next_commit = absl::ResourceExhaustedError("the disk is full");
  const absl::Status failed = writer->Run(Durability::kSynced, PutEvent("lost"));
  EXPECT_EQ(failed.code(), absl::StatusCode::kResourceExhausted);
  const absl::Status later = writer->Run(Durability::kSynced, PutEvent("later"));
  EXPECT_EQ(later.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(later.message()), HasSubstr("the disk is full"));
  EXPECT_EQ(writer->health().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*writer->NewReader()->LastEventId(), 0);
  writer->Stop();
  EXPECT_THAT(log_->commits, IsEmpty());
}

TEST_F(WriterTest, FailsWhatWasQueuedBehindAFailure) {
  auto writer = Make();
  log_->next_commit = absl::DataLossError("a page is damaged");
  absl::Notification hold;
  ASSERT_TRUE(writer
                  ->Submit(Durability::kSynced,
                           [&](Store&) {
                             hold.WaitForNotification();
                             return absl::OkStatus();
                           })
                  .ok());
  absl::Status behind;
  absl::Notification answered;
  // The group of the first request may or may not hold the second; either way it may not succeed.
  ASSERT_TRUE(writer
                  ->Submit(Durability::kSynced, PutEvent("behind"),
                           [&](const absl::Status& status) {
                             behind = status;
                             answered.Notify();
                           })
                  .ok());
  hold.Notify();
  answered.WaitForNotification();
  EXPECT_FALSE(behind.ok());
  writer->Stop();
}

TEST_F(WriterTest, RefusesBatchedRowsBeyondTheLimitButTakesSyncedOnes) {
  WriterOptions options = Patient();
  options.queue_limit = 2;
  options.synced_reserve = 1;
  auto writer = Make(options);
  absl::Notification holding, release;
  ASSERT_TRUE(writer
                  ->Submit(Durability::kSynced,
                           [&](Store&) {
                             if (!holding.HasBeenNotified()) holding.Notify();
                             release.WaitForNotification();
                             return absl::OkStatus();
                           })
                  .ok());
  holding.WaitForNotification();
  EXPECT_TRUE(writer->Submit(Durability::kBatched, PutEvent("1")).ok());
  EXPECT_TRUE(writer->Submit(Durability::kBatched, PutEvent("2")).ok());
  EXPECT_EQ(writer->queued(), 2u);
  EXPECT_EQ(writer->Submit(Durability::kBatched, PutEvent("3")).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(writer->Submit(Durability::kSynced, PutEvent("4")).ok());
  EXPECT_EQ(writer->Submit(Durability::kSynced, PutEvent("5")).code(),
            absl::StatusCode::kResourceExhausted);
  release.Notify();
  writer->Stop();
  EXPECT_EQ(*writer->NewReader()->LastEventId(), 3);
}

TEST_F(WriterTest, WritesWhatIsQueuedBeforeItStops) {
  auto writer = Make();
  const uint64_t before = writer->progress();
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(writer->Submit(Durability::kBatched, PutEvent("x")).ok());
  }
  writer->Stop();
  EXPECT_EQ(*writer->NewReader()->LastEventId(), 600);
  EXPECT_GE(writer->progress(), before + 600);
  EXPECT_EQ(log_->checkpoints, 1);
  EXPECT_EQ(writer->Submit(Durability::kBatched, PutEvent("x")).code(),
            absl::StatusCode::kFailedPrecondition);
  writer->Stop();
}

TEST_F(WriterTest, TellsWatchersAfterTheCommitNotBefore) {
  WriterOptions options = Patient();
  std::vector<int64_t> seen;
  Reader* reader = nullptr;
  options.committed = [&] { seen.push_back(*reader->LastEventId()); };
  auto writer = Make(options);
  const std::unique_ptr<Reader> owned = writer->NewReader();
  reader = owned.get();
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("a")).ok());
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("b")).ok());
  writer->Stop();
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST_F(WriterTest, TakesRequestsFromManyThreads) {
  WriterOptions options;
  options.group_window = absl::Milliseconds(1);
  auto writer = Make(options);
  constexpr int kThreads = 4, kEach = 200;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        const auto durability = i % 50 == 0 ? Durability::kSynced : Durability::kBatched;
        EXPECT_TRUE(writer
                        ->Submit(durability, PutEvent("x"),
                                 [&](const absl::Status& status) { done += status.ok() ? 1 : 0; })
                        .ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer->Stop();
  EXPECT_EQ(done, kThreads * kEach);
  EXPECT_EQ(*writer->NewReader()->LastEventId(), kThreads * kEach);
}

}  // namespace
}  // namespace blazed::storage
