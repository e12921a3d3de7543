#include "client/cpp/transport/mailbox.h"

#include <unistd.h>

#include <algorithm>

#include "client/cpp/base/clock.h"
#include "client/cpp/transport/fork_guard.h"

namespace blazed::shim {
namespace {

constexpr uint64_t kRestartNs = 2'000'000'000;

}  // namespace

void Mailbox::Wake() {
  const uint64_t one = 1;
  // A full counter wakes as well; nothing else can fail on an eventfd that is open.
  static_cast<void>(!write(wake_fd_, &one, sizeof one));
}

// Only on a session that is alive: one that was turned off stays off.
void Mailbox::RaiseAttention() {
  uint32_t seen = hot_.load(std::memory_order_relaxed);
  while ((seen & kHotAlive) != 0 &&
         !hot_.compare_exchange_weak(seen, seen | kHotAttention, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
}

bool Mailbox::Send(Outgoing&& message) {
  const bool urgent = !message.can_wait;
  if (!outbox_.Push(std::move(message))) return false;
  if (urgent) Wake();
  return true;
}

bool Mailbox::TakeLinkState(LinkState& state) {
  MutexLock lock(mutex_);
  if (!link_changed_) return false;
  link_changed_ = false;
  state = link_;
  return true;
}

bool Mailbox::TakeStand(StandOrder& stand) {
  MutexLock lock(mutex_);
  if (!stand_changed_) return false;
  stand_changed_ = false;
  stand = std::move(stand_);
  return true;
}

bool Mailbox::TakeProgress(Progress& progress) {
  MutexLock lock(mutex_);
  if (!progress_changed_) return false;
  progress_changed_ = false;
  progress = std::move(progress_);
  return true;
}

void Mailbox::WaitForAnswer(uint64_t deadline_ns) {
  MutexLock lock(mutex_);
  while (link_.stage == LinkStage::kTrying) {
    if (!changed_.WaitUntil(mutex_, deadline_ns)) return;
  }
}

// A job that ends does not wait for a daemon that is not there: one that was never met has no
// report, one that went away is given the time of a restart.
ReportOutcome Mailbox::FetchReport(uint64_t deadline_ns, std::string& json) {
  {
    MutexLock lock(mutex_);
    if (link_.generation == 0) return ReportOutcome::kTimeout;
    report_ = Report::kWanted;
  }
  Wake();
  const uint64_t restarted_ns = MonotonicNs() + kRestartNs;
  MutexLock lock(mutex_);
  while (report_ == Report::kWanted) {
    const bool up = link_.stage == LinkStage::kUp;
    const uint64_t until = up ? deadline_ns : std::min(deadline_ns, restarted_ns);
    if (!changed_.WaitUntil(mutex_, until) && MonotonicNs() >= until) break;
  }
  const bool done = report_ == Report::kDone;
  report_ = Report::kIdle;
  if (!done) return ReportOutcome::kTimeout;
  json = std::move(json_);
  return outcome_;
}

void Mailbox::AskToStop() {
  stopping_.store(true, std::memory_order_release);
  Wake();
}

bool Mailbox::Deliver(Directive&& directive) {
  if (!inbox_.Push(std::move(directive))) return false;
  RaiseAttention();
  return true;
}

void Mailbox::Publish(const LinkState& state) {
  {
    MutexLock lock(mutex_);
    link_ = state;
    link_changed_ = true;
    changed_.NotifyAll();
  }
  RaiseAttention();
}

void Mailbox::Publish(StandOrder&& stand) {
  {
    MutexLock lock(mutex_);
    stand_ = std::move(stand);
    stand_changed_ = true;
  }
  RaiseAttention();
}

void Mailbox::Publish(Progress&& progress) {
  {
    MutexLock lock(mutex_);
    progress_ = std::move(progress);
    progress_changed_ = true;
  }
  RaiseAttention();
}

bool Mailbox::ReportWanted() {
  MutexLock lock(mutex_);
  return report_ == Report::kWanted;
}

void Mailbox::FinishReport(ReportOutcome outcome, std::string json) {
  MutexLock lock(mutex_);
  if (report_ != Report::kWanted) return;  // the host gave up waiting
  outcome_ = outcome;
  json_ = std::move(json);
  report_ = Report::kDone;
  changed_.NotifyAll();
}

}  // namespace blazed::shim
