// The writer thread: the only one that touches a Store. Requests queue up, run in order and are
// committed in groups; a synced request commits at once and takes everything queued before it
// along.
//
// A full disk or an I/O error is an outage: nothing of the group at hand is written, who waits for
// an answer gets the error, and the other requests keep their order and are tried again, less and
// less often, until the disk takes them. A request that wants an answer is tried at once, so an
// outage ends with the first that goes through.
//
// After damage, or a sync of which nobody knows what it left, the writer decides nothing more:
// every later request fails with FAILED_PRECONDITION and the first cause. Readers go on. The caller
// stops tuning and says so; the way back is a restart.
//
// Threads: every method from any thread. Requests and completions run on the writer thread without
// a lock; they must not call Run or Stop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/store.h"

namespace blazed::storage {

struct WriterOptions {
  absl::Duration group_window =
      absl::Milliseconds(50);   // how long a batched request may wait for company
  size_t group_size = 256;      // requests that end the wait
  size_t queue_limit = 8192;    // batched requests beyond it are refused
  size_t synced_reserve = 256;  // places above the limit for synced requests
  absl::Duration prune_every = absl::Minutes(1);
  absl::Duration checkpoint_after = absl::Seconds(5);  // idle time after which the log is moved
  absl::Duration backup_every = absl::Hours(24);  // where something was written since; zero: never
  absl::Duration first_retry = absl::Milliseconds(100);  // after the first failure; then twice as
  absl::Duration longest_retry = absl::Seconds(5);       // long each time, up to this
  std::function<void()> committed;  // after each commit, on the writer thread; wakes watchers
  std::function<void(const std::string&)>
      housekeeping_failed;  // what went wrong, on the writer thread; for the log
  // The cause when an outage begins, OK when it is over; on the writer thread.
  std::function<void(const absl::Status&)> outage;
};

// The store cannot be written at present. RESOURCE_EXHAUSTED: the disk or the store's size limit is
// full; UNAVAILABLE: an I/O error or a permission.
struct Outage {
  absl::Time since;
  absl::Status cause;  // the latest
};

// For people: since when, why, and the next move. `folder`: of the store.
std::string OutageSentence(const Outage& outage, const std::string& folder);

// What becomes of a request in an outage.
enum class InOutage {
  kKeep,    // it keeps its place and is tried again
  kAnswer,  // it fails with the outage's cause, and the caller decides
};

class Writer {
 public:
  // A request may run more than once: a group that one of its requests spoils is run again one by
  // one, and an outage repeats it. Only the last run counts, so a request sets its results anew
  // each time and has no other effect. INVALID_ARGUMENT and NOT_FOUND refuse the request alone,
  // RESOURCE_EXHAUSTED and UNAVAILABLE are an outage, any other error stops the writer.
  using Request = std::function<absl::Status(Store&)>;
  // Called once for each accepted request: after its commit, or with the error that it ended with.
  using Done = std::function<void(const absl::Status&)>;

  Writer(std::unique_ptr<Store> store, WriterOptions options);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Batched requests are kept in an outage, synced ones answered. RESOURCE_EXHAUSTED: the queue is
  // full, drop the row or try later. FAILED_PRECONDITION: the writer has stopped. After an error
  // `done` is not called. A synced request that is kept in an outage must not be lost, so no queue
  // is too full for it; whoever submits one keeps their number small.
  absl::Status Submit(Durability durability, Request request, Done done = nullptr);
  absl::Status Submit(Durability durability, InOutage in_outage, Request request, Done done);

  // Submits and waits; in an outage fails with its cause. For start-up and tests, never from the
  // control strand.
  absl::Status Run(Durability durability, Request request);

  // Writes what is queued, moves the log into the main file, ends the thread. What an outage still
  // holds up then fails with its cause. Safe to repeat.
  void Stop();

  // OK, or the first cause why nothing is written any more. An outage is no such cause.
  absl::Status health() const;
  // Empty while rows reach the disk.
  std::optional<Outage> outage() const;
  size_t queued() const;
  // Grows with every request done and every idle round: with a queue that is not empty, standing
  // still is a stall.
  uint64_t progress() const;

  uint64_t epoch() const { return epoch_; }
  std::unique_ptr<Reader> NewReader() { return store_->NewReader(); }

 private:
  struct Item {
    Durability durability = Durability::kBatched;
    InOutage in_outage = InOutage::kKeep;
    Request request;
    Done done;
    absl::Status result;
  };

  void Loop();
  // Waits for work; empty at the end of an idle round or when all is written and Stop was called.
  std::vector<Item> TakeGroup();
  void RunGroup(std::vector<Item>& group);
  void RunEach(std::vector<Item>& group);
  void RunAlone(Item& item);
  void Fail(const absl::Status& cause);
  void Finish(std::vector<Item> group);
  // Puts the kept ones of the group back in front of the queue, takes out of both whatever is to be
  // answered, and gives that back.
  std::vector<Item> HoldBack(std::vector<Item> group, const absl::Status& cause);
  void EndOutage();
  void KeepHouse(absl::Time now);
  absl::Status Refusal() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Ready() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Urgent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Asked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Keeps the two counts below; `by` is 1 or -1.
  void Count(const Item& item, int by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<Store> store_;
  const WriterOptions options_;
  const uint64_t epoch_;

  mutable absl::Mutex mutex_;
  std::deque<Item> queue_ ABSL_GUARDED_BY(mutex_);
  int synced_queued_ ABSL_GUARDED_BY(mutex_) = 0;
  int answers_queued_ ABSL_GUARDED_BY(mutex_) = 0;  // those of InOutage::kAnswer
  uint64_t progress_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::optional<Outage> outage_ ABSL_GUARDED_BY(mutex_);

  // The writer thread's own.
  absl::Duration retry_wait_;
  bool log_dirty_ = false;
  bool backup_stale_ = false;
  absl::Time last_commit_, last_prune_, last_backup_;

  std::thread thread_;  // last: starts when everything above is ready
};

}  // namespace blazed::storage
