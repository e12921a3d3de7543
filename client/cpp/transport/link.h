// The shim's only thread and all of its I/O. It keeps one connection to the daemon with one Attach
// stream on it, resumes the session after an outage, and never makes the host's thread wait.
//
// The public functions belong to the session's thread, everything named Io... to the link's. What
// they share is in the Mailbox.
#pragma once

#include <pthread.h>

#include <memory>
#include <optional>
#include <string>

#include "client/cpp/transport/backoff.h"
#include "client/cpp/transport/fork_guard.h"
#include "client/cpp/transport/grpc_connection.h"
#include "client/cpp/transport/mailbox.h"
#include "client/cpp/transport/send_queue.h"

namespace blazed::shim {

class Link final : public Channel {
 public:
  static constexpr uint64_t kWelcomeTimeoutNs = 2 * kSecond;  // then the daemon counts as silent
  static constexpr uint64_t kStalledWriteNs = 10 * kSecond;   // output that nobody reads
  static constexpr uint64_t kGoodbyeNs = 150 * kMillisecond;
  static constexpr uint64_t kLivedNs = kSecond;  // a stream that is refused sooner had no answer
  // The queue of what can wait is looked at again after a 32nd of the quiet time so far, within
  // these bounds: soon while leases come and go, whatever a step takes, and seldom afterwards.
  static constexpr uint64_t kShortestRoundNs = kMillisecond;
  static constexpr uint64_t kLongestRoundNs = kSecond;
  static constexpr uint64_t kQuietParts = 32;
  static constexpr size_t kMaxReportBytes = 16 << 20;
  static constexpr size_t kOutputChunk = 64 << 10;
  static constexpr size_t kMaxUnsent = 256 << 10;

  // Takes over `fd`, a fresh connection to the socket at `path`. `guard` must outlive the link.
  // Null: no thread or descriptor could be had; `fd` is closed then too.
  static std::unique_ptr<Link> Start(std::string path, int fd, Hello hello, ForkGuard* guard);

  // Ends the thread; without a goodbye where Stop was not called.
  ~Link() override;

  bool Send(Outgoing&& message) override { return mailbox_.Send(std::move(message)); }
  bool Receive(Directive& directive) override { return mailbox_.Receive(directive); }
  bool TakeLinkState(LinkState& state) override { return mailbox_.TakeLinkState(state); }
  bool TakeStand(StandOrder& stand) override { return mailbox_.TakeStand(stand); }
  bool TakeProgress(Progress& progress) override { return mailbox_.TakeProgress(progress); }
  void WaitForAnswer(uint64_t deadline_ns) { mailbox_.WaitForAnswer(deadline_ns); }
  ReportOutcome FetchReport(uint64_t deadline_ns, std::string& json) {
    return mailbox_.FetchReport(deadline_ns, json);
  }

  // Lets go what was sent, says goodbye, waits kGoodbyeNs at most for the daemon to end the stream.
  void Stop(const Bye& bye);

 private:
  enum class Stage { kWaiting, kGreeting, kWelcomed, kDead };
  // What a callback found out; acted on after nghttp2 has returned.
  struct Loss {
    std::string reason;
    bool for_good = false;
    bool daemon_left = false;  // its connection broke, or it said UNAVAILABLE
  };
  class AttachHandler;
  class ReportHandler;

  Link(std::string path, Hello hello, ForkGuard* guard, int wake_fd);
  static void* ThreadMain(void* self);

  void IoRun();
  void IoDial(uint64_t now);
  void IoBegin(int fd, uint64_t now);
  void IoTimers(uint64_t now);
  uint64_t IoNextTimer(uint64_t now);
  void IoPoll();
  void IoTakeOutgoing();
  void IoFeedStreams(uint64_t now);
  void IoFlushQueue();
  void IoStartReport();
  void IoGoodbye(uint64_t now);
  void IoRead();
  void IoWrite(uint64_t now);
  bool IoWriteSome();
  void IoOnMessage(std::string_view bytes);
  void IoOnWelcome(Welcome welcome);
  void IoOnDirective(DaemonBody body);
  void IoOnAttachClosed(const CallStatus& status);
  void IoLose(Loss loss);
  void IoActOnLoss(uint64_t now);
  StreamEnd IoEndOf(const Loss& loss, uint64_t now) const;
  void IoDisconnect();

  const std::string path_;
  ForkGuard* const guard_;
  const int wake_fd_;
  Mailbox mailbox_;
  pthread_t thread_{};
  bool started_ = false;
  std::string bye_;  // written before stopping, read after

  // The link's thread only.
  Hello hello_;
  Stage stage_ = Stage::kWaiting;
  LinkState state_;
  Backoff backoff_;
  SendQueue queue_;
  uint64_t last_traffic_ns_ = 0;  // of directives and of what the host sends
  uint64_t next_dial_ns_ = 0;
  uint64_t welcome_deadline_ns_ = kNever;
  uint64_t stall_deadline_ns_ = kNever;
  uint64_t goodbye_deadline_ns_ = kNever;
  int fd_ = -1;
  std::unique_ptr<GrpcConnection> connection_;
  std::unique_ptr<AttachHandler> attach_;
  std::unique_ptr<ReportHandler> report_;
  int32_t attach_id_ = -1;
  uint64_t sequence_ = 0;
  uint64_t arrivals_ = 0;
  uint64_t welcomed_ns_ = 0;
  bool greeted_before_ = false;
  bool said_bye_ = false;
  std::string output_;
  size_t output_sent_ = 0;
  std::optional<Loss> loss_;
};

}  // namespace blazed::shim
