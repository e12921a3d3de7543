#include "storage/writer.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
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
  int prunes = 0;
  int backups = 0;
  absl::Time newest_backup = absl::InfiniteFuture();

  // What commits answer from here on, all but the next `after`.
  void Answer(absl::Status status, int after = 0) {
    absl::MutexLock lock(&mutex);
    answer = std::move(status);
    good = after;
  }
  absl::Status Take() {
    absl::MutexLock lock(&mutex);
    return good-- > 0 ? absl::OkStatus() : answer;
  }
  absl::Mutex mutex;
  absl::Status answer ABSL_GUARDED_BY(mutex);
  int good ABSL_GUARDED_BY(mutex) = 0;
};

// A memory store that keeps a log and can be told to fail.
class LoggedStore : public MemoryStore {
 public:
  explicit LoggedStore(std::shared_ptr<Log> log) : log_(std::move(log)) {}
  absl::Status Commit(Durability durability) override {
    if (absl::Status status = log_->Take(); !status.ok()) {
      MemoryStore::Rollback();
      return status;
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
  absl::StatusOr<uint64_t> Prune() override {
    ++log_->prunes;
    return MemoryStore::Prune();
  }
  absl::StatusOr<std::string> Backup() override {
    ++log_->backups;
    return std::string("a copy");
  }
  absl::Time NewestBackup() const override { return log_->newest_backup; }

 private:
  const std::shared_ptr<Log> log_;
};

// Nothing is written or tried again by a clock: only a synced request or Stop ends a group.
WriterOptions Patient() {
  WriterOptions options;
  options.group_window = absl::InfiniteDuration();
  options.first_retry = options.longest_retry = absl::InfiniteDuration();
  return options;
}

Writer::Request PutEvent(const char* kind) {
  return [kind](Store& store) { return store.PutEvent(samples::Event(0, kind)).status(); };
}

std::vector<std::string> Kinds(Writer& writer) {
  std::vector<std::string> kinds;
  const auto events = writer.NewReader()->Events({});
  EXPECT_TRUE(events.ok()) << events.status();
  for (const EventRow& row : *events) kinds.push_back(row.kind);
  return kinds;
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

TEST_F(WriterTest, StopsDecidingAfterDamageAndNamesTheFirstCause) {
  auto writer = Make();
  log_->Answer(absl::DataLossError("a page is damaged"));
  const absl::Status failed = writer->Run(Durability::kSynced, PutEvent("lost"));
  EXPECT_EQ(failed.code(), absl::StatusCode::kDataLoss);
  const absl::Status later = writer->Run(Durability::kSynced, PutEvent("later"));
  EXPECT_EQ(later.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(later.message()), HasSubstr("a page is damaged"));
  EXPECT_EQ(writer->health().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(writer->outage().has_value());
  EXPECT_EQ(*writer->NewReader()->LastEventId(), 0);
  writer->Stop();
  EXPECT_THAT(log_->commits, IsEmpty());
}

TEST_F(WriterTest, AnswersASyncedRequestInAnOutageAndWritesNothingOfIt) {
  auto writer = Make();
  log_->Answer(absl::ResourceExhaustedError("the disk is full"));
  const absl::Status failed = writer->Run(Durability::kSynced, PutEvent("lost"));
  EXPECT_EQ(failed, absl::ResourceExhaustedError("the disk is full"));
  ASSERT_TRUE(writer->outage().has_value());
  EXPECT_EQ(writer->outage()->cause, failed);
  EXPECT_TRUE(writer->health().ok()) << "an outage is no end";
  EXPECT_EQ(*writer->NewReader()->LastEventId(), 0);
  log_->Answer(absl::OkStatus());
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("later")).ok());
  EXPECT_FALSE(writer->outage().has_value());
  EXPECT_THAT(Kinds(*writer), ElementsAre("store_outage", "later"));
  writer->Stop();
}

TEST_F(WriterTest, KeepsBatchedRowsThroughAnOutageInTheirOrder) {
  auto writer = Make();
  log_->Answer(absl::UnavailableError("an I/O error"));
  std::vector<std::string> done;
  const auto submit = [&](const char* kind) {
    ASSERT_TRUE(writer
                    ->Submit(Durability::kBatched, PutEvent(kind),
                             [&done, kind](const absl::Status& status) {
                               EXPECT_TRUE(status.ok()) << status;
                               done.push_back(kind);
                             })
                    .ok());
  };
  submit("1");
  submit("2");
  EXPECT_FALSE(writer->Run(Durability::kSynced, PutEvent("answered")).ok());
  submit("3");
  EXPECT_FALSE(writer->Run(Durability::kSynced, PutEvent("answered too")).ok());
  log_->Answer(absl::OkStatus());
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("4")).ok());
  EXPECT_THAT(done, ElementsAre("1", "2", "3"));
  EXPECT_THAT(Kinds(*writer), ElementsAre("store_outage", "1", "2", "3", "4"));
  writer->Stop();
}

TEST_F(WriterTest, KeepsASyncedRequestThatIsToBeKept) {
  auto writer = Make();
  log_->Answer(absl::ResourceExhaustedError("the disk is full"));
  ASSERT_TRUE(
      writer->Submit(Durability::kSynced, InOutage::kKeep, PutEvent("demotion"), nullptr).ok());
  EXPECT_FALSE(writer->Run(Durability::kSynced, PutEvent("answered")).ok());
  log_->Answer(absl::OkStatus());
  ASSERT_TRUE(writer->Run(Durability::kBatched, PutEvent("later")).ok());
  EXPECT_THAT(Kinds(*writer), ElementsAre("store_outage", "demotion", "later"));
  EXPECT_THAT(log_->commits, ElementsAre(Durability::kSynced)) << "and is synced when it goes";
  writer->Stop();
}

TEST_F(WriterTest, GoesOnByItselfWhenTheDiskHasRoomAgain) {
  WriterOptions options = Patient();
  options.first_retry = options.longest_retry = absl::Milliseconds(1);
  std::vector<absl::StatusCode> heard;
  absl::Notification over;
  options.outage = [&](const absl::Status& status) {
    heard.push_back(status.code());
    if (status.ok()) over.Notify();
  };
  auto writer = Make(options);
  log_->Answer(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_FALSE(writer->Run(Durability::kSynced, PutEvent("lost")).ok());
  log_->Answer(absl::OkStatus());
  // Nobody asks for anything.
  over.WaitForNotification();
  EXPECT_FALSE(writer->outage().has_value());
  EXPECT_THAT(heard, ElementsAre(absl::StatusCode::kResourceExhausted, absl::StatusCode::kOk));
  EXPECT_THAT(Kinds(*writer), ElementsAre("store_outage"));
  writer->Stop();
}

TEST_F(WriterTest, RunsIntoAnOutageHalfwayThroughASpoiltGroupWithoutALossOrARepeat) {
  auto writer = Make();
  const auto spoilt = [](Store& store) { return store.PutPlan(99, samples::Plan()); };
  absl::Status refused;
  ASSERT_TRUE(writer->Submit(Durability::kBatched, PutEvent("1")).ok());
  ASSERT_TRUE(writer
                  ->Submit(Durability::kBatched, spoilt,
                           [&](const absl::Status& status) { refused = status; })
                  .ok());
  ASSERT_TRUE(writer->Submit(Durability::kBatched, PutEvent("2")).ok());
  log_->Answer(absl::ResourceExhaustedError("the disk is full"), /*after=*/1);
  EXPECT_FALSE(writer->Run(Durability::kSynced, PutEvent("answered")).ok());
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  log_->Answer(absl::OkStatus());
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("3")).ok());
  EXPECT_THAT(Kinds(*writer), ElementsAre("1", "store_outage", "2", "3"));
  writer->Stop();
}

TEST_F(WriterTest, HoldsNoMoreRowsInAnOutageThanItsQueueTakes) {
  WriterOptions options = Patient();
  options.queue_limit = 3;
  auto writer = Make(options);
  log_->Answer(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_FALSE(writer->Run(Durability::kSynced, PutEvent("answered")).ok());
  // One place is the outage's own notice.
  EXPECT_TRUE(writer->Submit(Durability::kBatched, PutEvent("1")).ok());
  EXPECT_TRUE(writer->Submit(Durability::kBatched, PutEvent("2")).ok());
  // Answered by the disk, so that nothing is on its way between queue and store below.
  EXPECT_FALSE(writer->Run(Durability::kSynced, PutEvent("answered")).ok());
  const absl::Status refused = writer->Submit(Durability::kBatched, PutEvent("3"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the disk is full"));
  log_->Answer(absl::OkStatus());
  ASSERT_TRUE(writer->Run(Durability::kSynced, PutEvent("4")).ok());
  EXPECT_THAT(Kinds(*writer), ElementsAre("store_outage", "1", "2", "4"));
  writer->Stop();
}

TEST_F(WriterTest, TakesWhatMustNotBeLostThoughTheQueueIsFull) {
  WriterOptions options = Patient();
  options.queue_limit = 1;
  options.synced_reserve = 0;
  auto writer = Make(options);
  ASSERT_TRUE(writer->Submit(Durability::kBatched, PutEvent("1")).ok());
  absl::Notification holding, release;
  const auto hold = [&](Store&) {
    holding.Notify();
    release.WaitForNotification();
    return absl::OkStatus();
  };
  ASSERT_TRUE(writer->Submit(Durability::kSynced, InOutage::kKeep, hold, nullptr).ok());
  holding.WaitForNotification();
  ASSERT_TRUE(writer->Submit(Durability::kBatched, PutEvent("2")).ok());
  EXPECT_EQ(writer->Submit(Durability::kBatched, PutEvent("dropped")).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(writer->Submit(Durability::kSynced, PutEvent("dropped")).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(writer->Submit(Durability::kSynced, InOutage::kKeep, PutEvent("3"), nullptr).ok());
  release.Notify();
  writer->Stop();
  EXPECT_THAT(Kinds(*writer), ElementsAre("1", "2", "3"));
}

TEST(OutageSentence, SaysSinceWhenWhyAndTheNextMove) {
  const absl::Time since = absl::FromUnixSeconds(1'767'225'600);
  EXPECT_EQ(OutageSentence({since, absl::ResourceExhaustedError("database or disk is full")}, "/s"),
            "the store cannot be written since 2026-01-01 00:00:00 UTC: the disk is full or the "
            "store at its size limit; free space on /s or raise limits.store_mib; what waits is "
            "written by itself then");
  EXPECT_EQ(OutageSentence({since, absl::UnavailableError("disk I/O error: check the disk")}, "/s"),
            "the store cannot be written since 2026-01-01 00:00:00 UTC: disk I/O error: check the "
            "disk (/s); what waits is written by itself then");
}

TEST_F(WriterTest, SaysWhatAStopInAnOutageLoses) {
  WriterOptions options = Patient();
  std::string said;
  options.housekeeping_failed = [&](const std::string& what) { said = what; };
  auto writer = Make(options);
  log_->Answer(absl::ResourceExhaustedError("the disk is full"));
  absl::Status lost;
  ASSERT_TRUE(writer
                  ->Submit(Durability::kBatched, PutEvent("lost"),
                           [&](const absl::Status& status) { lost = status; })
                  .ok());
  writer->Stop();
  EXPECT_EQ(lost.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(said, "1 rows were not written before the stop: the disk is full");
}

TEST_F(WriterTest, FailsWhatWasQueuedBehindAFailure) {
  auto writer = Make();
  log_->Answer(absl::DataLossError("a page is damaged"));
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

TEST_F(WriterTest, KeepsHouseThoughRequestsNeverPause) {
  WriterOptions options = Patient();
  options.group_window = absl::ZeroDuration();
  options.prune_every = absl::ZeroDuration();
  log_->newest_backup = absl::InfinitePast();
  auto writer = Make(std::move(options));
  // Each is in the queue before the writer looks at it again, so there is no idle round.
  absl::Notification ended;
  int prunes = 0, backups = 0;
  std::function<void(int)> go_on = [&](int left) {
    if (left == 0) {
      prunes = log_->prunes;
      backups = log_->backups;
      ended.Notify();
      return;
    }
    const absl::Status taken =
        writer->Submit(Durability::kBatched, PutEvent("busy"),
                       [&go_on, left](const absl::Status&) { go_on(left - 1); });
    EXPECT_TRUE(taken.ok()) << taken;
  };
  go_on(20);
  ended.WaitForNotification();
  EXPECT_GE(prunes, 10);
  EXPECT_EQ(backups, 1) << "one a day";
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
