// All that the host's thread and the link's thread share. Bounded; the mutex guards copies only and
// is never held across I/O or a callback.
#pragma once

#include <atomic>
#include <string>

#include "client/cpp/base/mutex.h"
#include "client/cpp/base/spsc_ring.h"
#include "client/cpp/transport/channel.h"

namespace blazed::shim {

enum class ReportOutcome { kOk, kTimeout, kNotFound, kFailed };

class Mailbox {
 public:
  // `hot`: its attention bit is raised with every delivery. `wake_fd`: an eventfd, borrowed.
  Mailbox(std::atomic<uint32_t>& hot, int wake_fd) : hot_(hot), wake_fd_(wake_fd) {}

  // ---- the session's thread ----
  bool Send(Outgoing&& message);  // what can wait makes no system call
  bool Receive(Directive& directive) { return inbox_.Pop(directive); }
  bool TakeLinkState(LinkState& state);
  bool TakeStand(StandOrder& stand);
  bool TakeProgress(Progress& progress);
  // Until the link is up or dead.
  void WaitForAnswer(uint64_t deadline_ns);
  // Asks the link for a report and waits for it: until the deadline while a daemon is there, for
  // two seconds where it went away, not at all where none was met.
  ReportOutcome FetchReport(uint64_t deadline_ns, std::string& json);
  void AskToStop();

  // ---- the link's thread ----
  bool TakeOutgoing(Outgoing& message) { return outbox_.Pop(message); }
  bool Deliver(Directive&& directive);  // false: the inbox is full
  void Publish(const LinkState& state);
  void Publish(StandOrder&& stand);
  void Publish(Progress&& progress);
  bool ReportWanted();  // true until FinishReport
  void FinishReport(ReportOutcome outcome, std::string json);
  bool StopWanted() const { return stopping_.load(std::memory_order_acquire); }

 private:
  void Wake();
  void RaiseAttention();

  std::atomic<uint32_t>& hot_;
  const int wake_fd_;
  SpscRing<Outgoing, 256> outbox_;
  SpscRing<Directive, 256> inbox_;
  std::atomic<bool> stopping_{false};

  Mutex mutex_;
  Condition changed_;
  LinkState link_ BLZ_GUARDED_BY(mutex_);
  bool link_changed_ BLZ_GUARDED_BY(mutex_) = false;
  StandOrder stand_ BLZ_GUARDED_BY(mutex_);
  bool stand_changed_ BLZ_GUARDED_BY(mutex_) = false;
  Progress progress_ BLZ_GUARDED_BY(mutex_);
  bool progress_changed_ BLZ_GUARDED_BY(mutex_) = false;
  enum class Report { kIdle, kWanted, kDone } report_ BLZ_GUARDED_BY(mutex_) = Report::kIdle;
  ReportOutcome outcome_ BLZ_GUARDED_BY(mutex_) = ReportOutcome::kFailed;
  std::string json_ BLZ_GUARDED_BY(mutex_);
};

}  // namespace blazed::shim
