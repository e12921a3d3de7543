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

// What may pass by itself or by an operator's hand, and leaves nothing half done.
bool IsOutage(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

// A row for people who watch. It is also what is tried while nothing else waits, so that an outage
// ends by itself.
absl::Status PutOutageNotice(Store& store, absl::Time since) {
  const absl::Time now = absl::Now();
  EventRow notice;
  notice.wall_ns = absl::ToUnixNanos(now);
  notice.kind = "store_outage";
  notice.payload =
      absl::StrCat("the store could not be written from ", TimeText(since), " to ", TimeText(now));
  return store.PutEvent(notice).status();
}

}  // namespace

std::string OutageSentence(const Outage& outage, const std::string& folder) {
  const std::string why =
      absl::IsResourceExhausted(outage.cause)
          ? absl::StrCat("the disk is full or the store at its size limit; free space on ", folder,
                         " or raise limits.store_mib")
          : absl::StrCat(outage.cause.message(), " (", folder, ")");
  return absl::StrCat("the store cannot be written since ", TimeText(outage.since), ": ", why,
                      "; what waits is written by itself then");
}

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
  const InOutage in_outage =
      durability == Durability::kSynced ? InOutage::kAnswer : InOutage::kKeep;
  return Submit(durability, in_outage, std::move(request), std::move(done));
}

absl::Status Writer::Submit(Durability durability, InOutage in_outage, Request request, Done done) {
  absl::MutexLock lock(&mutex_);
  if (absl::Status status = Refusal(); !status.ok()) return status;
  const bool synced = durability == Durability::kSynced;
  const bool must_not_be_lost = synced && in_outage == InOutage::kKeep;
  const size_t limit = options_.queue_limit + (synced ? options_.synced_reserve : 0);
  if (queue_.size() >= limit && !must_not_be_lost) {
    const std::string why = outage_ ? std::string(outage_->cause.message()) : "the disk is slow";
    return absl::ResourceExhaustedError(
        absl::StrCat(queue_.size(), " rows wait to be written (", why, "): try later"));
  }
  queue_.push_back({durability, in_outage, std::move(request), std::move(done), absl::OkStatus()});
  Count(queue_.back(), 1);
  return absl::OkStatus();
}

absl::Status Writer::Run(Durability durability, Request request) {
  absl::Notification finished;
  absl::Status result;
  const absl::Status submitted =
      Submit(durability, InOutage::kAnswer, std::move(request), [&](const absl::Status& status) {
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

std::optional<Outage> Writer::outage() const {
  absl::MutexLock lock(&mutex_);
  return outage_;
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
  return synced_queued_ > 0 || answers_queued_ > 0 || stopping_ ||
         queue_.size() >= options_.group_size;
}

bool Writer::Asked() const { return answers_queued_ > 0 || stopping_; }

void Writer::Count(const Item& item, int by) {
  if (item.durability == Durability::kSynced) synced_queued_ += by;
  if (item.in_outage == InOutage::kAnswer) answers_queued_ += by;
}

void Writer::Loop() {
  for (;;) {
    std::vector<Item> group = TakeGroup();
    if (!group.empty()) {
      RunGroup(group);
      Finish(std::move(group));
      // Requests that never pause must not put it off: what is due is due by time.
      KeepHouse(absl::Now());
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
  const auto asked = [](Writer* self) ABSL_NO_THREAD_SAFETY_ANALYSIS { return self->Asked(); };
  if (outage_) {
    mutex_.AwaitWithTimeout(absl::Condition(+asked, this), retry_wait_);
  } else {
    if (!mutex_.AwaitWithTimeout(absl::Condition(+ready, this), kIdleRound)) return group;
    // Company for batched rows; not waited for once somebody needs the disk.
    mutex_.AwaitWithTimeout(absl::Condition(+urgent, this), options_.group_window);
  }
  const size_t count = std::min(queue_.size(), options_.group_size);
  for (size_t i = 0; i < count; ++i) {
    Count(queue_.front(), -1);
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
    RunEach(group);
    return;
  }
  if (status.ok()) status = store_->Commit(durability);
  if (!status.ok()) {
    store_->Rollback();
    if (!IsOutage(status)) Fail(status);
  }
  for (Item& item : group) item.result = status;
}

// One after the other, up to an outage: what stands behind it must not overtake what it holds up.
void Writer::RunEach(std::vector<Item>& group) {
  absl::Status outage;
  for (Item& item : group) {
    if (outage.ok()) {
      RunAlone(item);
      if (IsOutage(item.result)) outage = item.result;
    } else {
      item.result = outage;
    }
  }
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
  if (!IsRefusal(item.result) && !IsOutage(item.result)) Fail(item.result);
}

void Writer::Fail(const absl::Status& cause) {
  absl::MutexLock lock(&mutex_);
  if (failure_.ok()) failure_ = cause;
  outage_.reset();  // nothing is tried again
}

void Writer::Finish(std::vector<Item> group) {
  bool committed = false;
  absl::Status outage;
  for (const Item& item : group) {
    committed = committed || item.result.ok();
    if (IsOutage(item.result)) outage = item.result;
  }
  // Who is answered finds the outage begun, or over.
  if (!outage.ok()) {
    group = HoldBack(std::move(group), outage);
  } else if (committed) {
    EndOutage();
  }
  for (Item& item : group) {
    if (item.done) item.done(item.result);
    absl::MutexLock lock(&mutex_);
    ++progress_;
  }
  if (!committed) return;
  log_dirty_ = backup_stale_ = true;
  last_commit_ = absl::Now();
  if (options_.committed) options_.committed();
}

std::vector<Writer::Item> Writer::HoldBack(std::vector<Item> group, const absl::Status& cause) {
  std::vector<Item> answered;
  std::deque<Item> kept;
  size_t lost = 0;
  bool begins = false;
  {
    absl::MutexLock lock(&mutex_);
    ++progress_;
    begins = !outage_ && !stopping_;
    const absl::Time since = outage_ ? outage_->since : absl::Now();
    retry_wait_ =
        outage_ ? std::min(2 * retry_wait_, options_.longest_retry) : options_.first_retry;
    outage_ = Outage{since, cause};
    const auto sort = [&](Item item) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      const bool keeps = item.in_outage == InOutage::kKeep;
      lost += keeps && stopping_ ? 1 : 0;
      if (keeps && !stopping_) return kept.push_back(std::move(item));
      item.result = cause;
      answered.push_back(std::move(item));
    };
    if (begins) {
      sort({Durability::kBatched, InOutage::kKeep,
            [since](Store& store) { return PutOutageNotice(store, since); }, nullptr,
            absl::OkStatus()});
    }
    for (Item& item : group) {
      if (IsOutage(item.result)) {
        sort(std::move(item));
      } else {
        answered.push_back(std::move(item));
      }
    }
    for (Item& item : queue_) sort(std::move(item));
    queue_ = std::move(kept);
    synced_queued_ = answers_queued_ = 0;
    for (const Item& item : queue_) Count(item, 1);
  }
  if (begins && options_.outage) options_.outage(cause);
  if (lost > 0 && options_.housekeeping_failed) {
    options_.housekeeping_failed(
        absl::StrCat(lost, " rows were not written before the stop: ", cause.message()));
  }
  return answered;
}

void Writer::EndOutage() {
  {
    absl::MutexLock lock(&mutex_);
    if (!outage_) return;
    outage_.reset();
  }
  if (options_.outage) options_.outage(absl::OkStatus());
}

void Writer::KeepHouse(absl::Time now) {
  if (!health().ok() || outage().has_value()) return;
  absl::Status status;
  if (now - last_prune_ >= options_.prune_every) {
    const absl::StatusOr<uint64_t> removed = store_->Prune();
    status = removed.status();
    // A full batch means more is waiting: the next round goes on.
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
