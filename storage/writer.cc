#include "storage/writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace blazed::storage {
namespace {

constexpr absl::Duration kIdleRound = absl::Seconds(1);

bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status);
}

}  // namespace

Writer::Writer(std::unique_ptr<Store> store, WriterOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
      epoch_(store_->epoch()),
      last_commit_(absl::Now()),
      last_prune_(last_commit_),
      last_backup_(store_->NewestBackup()),
      thread_([this] { Loop(); }) {}

Writer::~Writer() { Stop(); }

absl::Status Writer::Refusal() const {
  if (!failure_.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("the store stopped writing (",
                                                      failure_.message(),
                                                      "): restart blazed once that is mended"));
  }
  if (stopping_) return absl::FailedPreconditionError("the store is closing: blazed is stopping");
  return absl::OkStatus();
}

absl::Status Writer::Submit(Durability durability, Request request, Done done) {
  absl::MutexLock lock(&mutex_);
  if (absl::Status status = Refusal(); !status.ok()) return status;
  const bool synced = durability == Durability::kSynced;
  const size_t limit = options_.queue_limit + (synced ? options_.synced_reserve : 0);
  if (queue_.size() >= limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat(queue_.size(), " rows wait to be written: the disk is slow, try later"));
  }
  queue_.push_back({durability, std::move(request), std::move(done), absl::OkStatus()});
  synced_queued_ += synced ? 1 : 0;
  return absl::OkStatus();
}

absl::Status Writer::Run(Durability durability, Request request) {
  absl::Notification finished;
  absl::Status result;
  const absl::Status submitted =
      Submit(durability, std::move(request), [&](const absl::Status& status) {
        result = status;
        finished.Notify();
      });
  if (!submitted.ok()) return submitted;
  finished.WaitForNotification();
  return result;
}

void Writer::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status Writer::health() const {
  absl::MutexLock lock(&mutex_);
  return failure_;
}

size_t Writer::queued() const {
  absl::MutexLock lock(&mutex_);
  return queue_.size();
}

uint64_t Writer::progress() const {
  absl::MutexLock lock(&mutex_);
  return progress_;
}

bool Writer::Ready() const { return !queue_.empty() || stopping_; }

bool Writer::Urgent() const {
  return synced_queued_ > 0 || stopping_ || queue_.size() >= options_.group_size;
}

void Writer::Loop() {
  for (;;) {
    std::vector<Item> group = TakeGroup();
    if (!group.empty()) {
      RunGroup(group);
      Finish(group);
      continue;
    }
    KeepHouse(absl::Now());
    absl::MutexLock lock(&mutex_);
    ++progress_;
    if (stopping_ && queue_.empty()) break;
  }
  // The rows are in the log already; moving them only makes the next start shorter.
  if (health().ok()) store_->Checkpoint().IgnoreError();
}

std::vector<Writer::Item> Writer::TakeGroup() {
  std::vector<Item> group;
  absl::MutexLock lock(&mutex_);
  const auto ready = [](Writer* self) ABSL_NO_THREAD_SAFETY_ANALYSIS { return self->Ready(); };
  const auto urgent = [](Writer* self) ABSL_NO_THREAD_SAFETY_ANALYSIS { return self->Urgent(); };
  if (!mutex_.AwaitWithTimeout(absl::Condition(+ready, this), kIdleRound)) return group;
  // Company for batched rows; not waited for once somebody needs the disk.
  mutex_.AwaitWithTimeout(absl::Condition(+urgent, this), options_.group_window);
  const size_t count = std::min(queue_.size(), options_.group_size);
  for (size_t i = 0; i < count; ++i) {
    synced_queued_ -= queue_.front().durability == Durability::kSynced ? 1 : 0;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

void Writer::RunGroup(std::vector<Item>& group) {
  if (absl::Status failed = health(); !failed.ok()) {
    absl::MutexLock lock(&mutex_);
    for (Item& item : group) item.result = Refusal();
    return;
  }
  Durability durability = Durability::kBatched;
  absl::Status status = store_->Begin();
  bool refused = false;
  for (size_t i = 0; status.ok() && i < group.size(); ++i) {
    if (group[i].durability == Durability::kSynced) durability = Durability::kSynced;
    status = group[i].request(*store_);
    refused = IsRefusal(status);
  }
  if (refused) {
    store_->Rollback();
    for (Item& item : group) RunAlone(item);
    return;
  }
  if (status.ok()) status = store_->Commit(durability);
  if (!status.ok()) {
    store_->Rollback();
    Fail(status);
  }
  for (Item& item : group) item.result = status;
}

void Writer::RunAlone(Item& item) {
  if (!health().ok()) {
    absl::MutexLock lock(&mutex_);
    item.result = Refusal();
    return;
  }
  item.result = store_->Begin();
  if (item.result.ok()) item.result = item.request(*store_);
  if (item.result.ok()) item.result = store_->Commit(item.durability);
  if (item.result.ok()) return;
  store_->Rollback();
  if (!IsRefusal(item.result)) Fail(item.result);
}

void Writer::Fail(const absl::Status& cause) {
  absl::MutexLock lock(&mutex_);
  if (failure_.ok()) failure_ = cause;
}

void Writer::Finish(std::vector<Item>& group) {
  bool committed = false;
  for (Item& item : group) {
    committed = committed || item.result.ok();
    if (item.done) item.done(item.result);
    absl::MutexLock lock(&mutex_);
    ++progress_;
  }
  if (!committed) return;
  log_dirty_ = backup_stale_ = true;
  last_commit_ = absl::Now();
  if (options_.committed) options_.committed();
}

void Writer::KeepHouse(absl::Time now) {
  if (!health().ok()) return;
  absl::Status status;
  if (now - last_prune_ >= options_.prune_every) {
    const absl::StatusOr<uint64_t> removed = store_->Prune();
    status = removed.status();
    // A full batch means more is waiting: the next idle round goes on.
    if (!removed.ok() || *removed == 0) last_prune_ = now;
  }
  if (status.ok() && log_dirty_ && now - last_commit_ >= options_.checkpoint_after) {
    status = store_->Checkpoint();
    log_dirty_ = false;
  }
  if (status.ok() && backup_stale_ && options_.backup_every > absl::ZeroDuration() &&
      now - last_backup_ >= options_.backup_every) {
    status = store_->Backup().status();
    last_backup_ = now;
    backup_stale_ = false;
  }
  if (status.ok()) return;
  // Housekeeping announces nothing, so only damage ends the writing; the rest is tried again later.
  if (absl::IsDataLoss(status)) Fail(status);
  if (options_.housekeeping_failed) options_.housekeeping_failed(std::string(status.message()));
}

}  // namespace blazed::storage
