#include "client/cpp/transport/link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "client/cpp/transport/link_handlers.h"
#include "client/cpp/transport/socket_search.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {
namespace {

constexpr char kAttachPath[] = "/blazed.v1.Tuner/Attach";
constexpr char kReportPath[] = "/blazed.v1.Tuner/GetReport";

// Starts a thread that takes no signals: they are the host's.
bool StartQuietThread(pthread_t* thread, void* (*main)(void*), void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  const bool started = pthread_create(thread, nullptr, main, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

// Codes that another try cannot change.
bool IsFinal(int code) {
  return code == kGrpcUnimplemented || code == kGrpcPermissionDenied ||
         code == kGrpcUnauthenticated;
}

}  // namespace

Link::Link(std::string path, Hello hello, ForkGuard* guard, int wake_fd)
    : path_(std::move(path)),
      guard_(guard),
      wake_fd_(wake_fd),
      mailbox_(guard->hot(), wake_fd),
      hello_(std::move(hello)) {}

std::unique_ptr<Link> Link::Start(std::string path, int fd, Hello hello, ForkGuard* guard) {
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) {
    close(fd);
    return nullptr;
  }
  guard->GuardWake(wake_fd);
  std::unique_ptr<Link> link(new Link(std::move(path), std::move(hello), guard, wake_fd));
  link->IoBegin(fd, MonotonicNs());  // before its thread exists
  link->started_ = StartQuietThread(&link->thread_, &Link::ThreadMain, link.get());
  if (!link->started_) return nullptr;
  pthread_setname_np(link->thread_, "blazed-shim");
  return link;
}

Link::~Link() {
  if (started_) {
    mailbox_.AskToStop();
    pthread_join(thread_, nullptr);
  }
  IoDisconnect();
  guard_->GuardWake(-1);
  close(wake_fd_);
}

void Link::Stop(const Bye& bye) {
  if (!started_) return;
  bye_ = Encode(bye);
  mailbox_.AskToStop();
  pthread_join(thread_, nullptr);
  started_ = false;
}

void* Link::ThreadMain(void* self) {
  static_cast<Link*>(self)->IoRun();
  return nullptr;
}

void Link::IoRun() {
  while (true) {
    const uint64_t now = MonotonicNs();
    IoTakeOutgoing();
    if (mailbox_.StopWanted()) {
      IoGoodbye(now);
      if (stage_ != Stage::kWelcomed || now >= goodbye_deadline_ns_) return;
    }
    IoTimers(now);
    IoFeedStreams(now);
    IoActOnLoss(now);
    IoPoll();
    IoActOnLoss(MonotonicNs());
  }
}

void Link::IoTimers(uint64_t now) {
  if (stage_ == Stage::kWaiting && now >= next_dial_ns_) IoDial(now);
  if (stage_ == Stage::kGreeting && now >= welcome_deadline_ns_) {
    IoLose({"the daemon took the connection and stayed silent", false});
  }
  if (now >= stall_deadline_ns_) IoLose({"the daemon stopped reading", false});
}

uint64_t Link::IoNextTimer(uint64_t now) {
  const uint64_t quiet = now - std::min(now, last_traffic_ns_);
  const uint64_t round = std::clamp(quiet / kQuietParts, kShortestRoundNs, kLongestRoundNs);
  uint64_t next = SaturatingAdd(now, round);
  if (stage_ == Stage::kWaiting) next = std::min(next, next_dial_ns_);
  if (stage_ == Stage::kGreeting) next = std::min(next, welcome_deadline_ns_);
  return std::min({next, stall_deadline_ns_, goodbye_deadline_ns_});
}

void Link::IoDial(uint64_t now) {
  Connection made = ConnectUnix(path_);
  if (made.result == ConnectResult::kConnected) {
    IoBegin(made.fd, now);
  } else {
    next_dial_ns_ = made.result == ConnectResult::kAbsent ? backoff_.AfterAbsent(now)
                                                          : backoff_.AfterUnanswered(now);
  }
}

void Link::IoBegin(int fd, uint64_t now) {
  fd_ = fd;
  guard_->GuardSocket(fd);
  stage_ = Stage::kGreeting;
  welcome_deadline_ns_ = SaturatingAdd(now, kWelcomeTimeoutNs);
  connection_ = GrpcConnection::Create();
  attach_ = std::make_unique<AttachHandler>(this);
  sequence_ = 0;
  said_bye_ = false;
  if (connection_ != nullptr) {
    attach_id_ = connection_->Open(kAttachPath, kMaxMessageBytes, attach_.get());
  }
  if (connection_ == nullptr || attach_id_ < 0) {
    IoLose({"no memory for a connection", false});
    return;
  }
  connection_->Write(attach_id_, EncodeSequence(++sequence_) + Encode(hello_));
}

void Link::IoTakeOutgoing() {
  Outgoing message;
  while (mailbox_.TakeOutgoing(message)) {
    queue_.Add(std::move(message));
    last_traffic_ns_ = MonotonicNs();
  }
}

void Link::IoFeedStreams(uint64_t now) {
  if (stage_ == Stage::kDead && mailbox_.ReportWanted()) {
    mailbox_.FinishReport(ReportOutcome::kFailed, "");
  }
  if (connection_ == nullptr) return;
  if (stage_ == Stage::kWelcomed) {
    IoFlushQueue();
    IoStartReport();
  }
  IoWrite(now);
}

void Link::IoFlushQueue() {
  std::string body;
  while (!said_bye_ && connection_->QueuedBytes() < kMaxUnsent && queue_.Next(body)) {
    if (!body.empty()) connection_->Write(attach_id_, EncodeSequence(++sequence_) + body);
  }
}

void Link::IoStartReport() {
  if (report_ != nullptr && report_->done()) report_.reset();
  if (report_ != nullptr || !mailbox_.ReportWanted()) return;
  auto handler = std::make_unique<ReportHandler>(&mailbox_);
  const int32_t id = connection_->Open(kReportPath, kMaxReportBytes, handler.get());
  if (id < 0) {
    mailbox_.FinishReport(ReportOutcome::kFailed, "");
    return;
  }
  report_ = std::move(handler);
  connection_->Write(id, EncodeGetReportRequest(state_.welcome.session));
  connection_->FinishWrites(id);
}

void Link::IoGoodbye(uint64_t now) {
  if (stage_ != Stage::kWelcomed || bye_.empty()) {
    goodbye_deadline_ns_ = now;
    return;
  }
  if (goodbye_deadline_ns_ == kNever) goodbye_deadline_ns_ = SaturatingAdd(now, kGoodbyeNs);
  IoFlushQueue();
  if (said_bye_ || !queue_.empty()) return;
  connection_->Write(attach_id_, EncodeSequence(++sequence_) + bye_);
  connection_->FinishWrites(attach_id_);
  said_bye_ = true;
}

void Link::IoPoll() {
  const uint64_t now = MonotonicNs();
  const uint64_t next = IoNextTimer(now);
  const uint64_t wait_ms = next <= now ? 0 : (next - now + kMillisecond - 1) / kMillisecond;
  pollfd polled[2] = {{wake_fd_, POLLIN, 0}, {fd_, POLLIN, 0}};
  if (output_sent_ < output_.size()) polled[1].events |= POLLOUT;
  const nfds_t count = fd_ >= 0 ? 2 : 1;
  if (poll(polled, count, static_cast<int>(wait_ms)) <= 0) return;
  if (polled[0].revents != 0) {
    uint64_t wakes;
    static_cast<void>(!read(wake_fd_, &wakes, sizeof wakes));
  }
  if (count == 2 && (polled[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) IoRead();
}

// A bounded number of rounds: a daemon that writes without end does not keep the loop from timers.
void Link::IoRead() {
  char buffer[16384];
  for (int round = 0; round < 16 && !loss_.has_value(); ++round) {
    const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
    if (got > 0) {
      if (!connection_->Receive(std::string_view(buffer, static_cast<size_t>(got)))) {
        IoLose({"the daemon broke the HTTP/2 protocol", false});
      }
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    IoLose({"the daemon closed the connection", false, true});
  }
}

void Link::IoWrite(uint64_t now) {
  while (!loss_.has_value()) {
    if (output_sent_ == output_.size()) {
      output_.clear();
      output_sent_ = 0;
      if (!connection_->TakeOutput(output_, kOutputChunk)) {
        IoLose({"the HTTP/2 session failed", false});
        return;
      }
      if (output_.empty()) break;
    }
    const size_t before = output_sent_;
    if (!IoWriteSome()) return;
    if (output_sent_ == before) {  // the socket is full
      if (stall_deadline_ns_ == kNever) stall_deadline_ns_ = SaturatingAdd(now, kStalledWriteNs);
      return;
    }
    stall_deadline_ns_ = kNever;
  }
  stall_deadline_ns_ = kNever;
  if (connection_->Finished()) IoLose({"the daemon ended the connection", false});
}

// False: the connection is lost.
bool Link::IoWriteSome() {
  const ssize_t sent =
      send(fd_, output_.data() + output_sent_, output_.size() - output_sent_, MSG_NOSIGNAL);
  if (sent >= 0) {
    output_sent_ += static_cast<size_t>(sent);
    return true;
  }
  if (errno == EAGAIN || errno == EINTR) return true;
  IoLose({"the daemon closed the connection", false, true});
  return false;
}

void Link::IoOnMessage(std::string_view bytes) {
  if (loss_.has_value()) return;
  std::optional<DaemonBody> body = DecodeDaemonMessage(bytes);
  if (!body.has_value()) {
    IoLose({"the daemon sent a malformed message", false});
  } else if (auto* welcome = std::get_if<Welcome>(&*body)) {
    IoOnWelcome(std::move(*welcome));
  } else if (stage_ != Stage::kWelcomed) {
    IoLose({"the daemon sent a directive before its welcome", false});
  } else if (auto* progress = std::get_if<Progress>(&*body)) {
    mailbox_.Publish(std::move(*progress));
  } else {
    IoOnDirective(std::move(*body));
  }
}

void Link::IoOnWelcome(Welcome welcome) {
  if (stage_ != Stage::kGreeting || !welcome.has_session || IsZero(welcome.session)) {
    IoLose({"the daemon sent a malformed welcome", false});
    return;
  }
  const bool resumed = greeted_before_ && welcome.session == hello_.resume;
  if (!resumed) ++state_.generation;
  if (greeted_before_) ++state_.reconnects;
  greeted_before_ = true;
  stage_ = Stage::kWelcomed;
  welcome_deadline_ns_ = kNever;
  welcomed_ns_ = MonotonicNs();
  hello_.resume = welcome.session;
  hello_.resume_epoch = welcome.daemon_epoch;
  queue_.OnWelcome(state_.generation);
  state_.stage = LinkStage::kUp;
  state_.reason.clear();
  state_.lost = queue_.lost();
  state_.welcome = std::move(welcome);
  mailbox_.Publish(state_);
}

void Link::IoOnDirective(DaemonBody body) {
  if (std::holds_alternative<UnknownBody>(body)) return;
  ++arrivals_;
  if (auto* stand = std::get_if<Stand>(&body)) {
    mailbox_.Publish(StandOrder{std::move(*stand), state_.generation, arrivals_});
    return;
  }
  const RefusalFor refusal = OverLimitRefusal(body);
  last_traffic_ns_ = MonotonicNs();
  if (mailbox_.Deliver({std::move(body), MonotonicNs(), state_.generation, arrivals_})) return;
  // The host takes no step, or the daemon floods: what does not fit is refused, not kept.
  if (refusal.wanted) {
    queue_.Add({OutgoingKind::kAnswer, state_.generation, Encode(refusal.message), {}});
  }
}

void Link::IoOnAttachClosed(const CallStatus& status) {
  const std::string why =
      status.message.empty() ? "gRPC status " + std::to_string(status.code) : status.message;
  IoLose({"the daemon ended the session: " + why, IsFinal(status.code),
          status.code == kGrpcUnavailable});
}

void Link::IoLose(Loss loss) {
  if (!loss_.has_value()) loss_ = std::move(loss);
}

void Link::IoActOnLoss(uint64_t now) {
  if (!loss_.has_value()) return;
  const Loss loss = std::move(*loss_);
  loss_.reset();
  next_dial_ns_ = backoff_.AfterStream(IoEndOf(loss, now), now);
  IoDisconnect();
  stage_ = loss.for_good ? Stage::kDead : Stage::kWaiting;
  state_.stage = loss.for_good ? LinkStage::kDead : LinkStage::kTrying;
  state_.reason = loss.reason;
  state_.lost = queue_.lost();
  mailbox_.Publish(state_);
}

StreamEnd Link::IoEndOf(const Loss& loss, uint64_t now) const {
  if (stage_ != Stage::kWelcomed) return StreamEnd::kUnanswered;
  if (now >= SaturatingAdd(welcomed_ns_, kLivedNs)) return StreamEnd::kLived;
  return loss.daemon_left ? StreamEnd::kLeft : StreamEnd::kUnanswered;
}

void Link::IoDisconnect() {
  if (report_ != nullptr) mailbox_.FinishReport(ReportOutcome::kFailed, "");
  connection_.reset();
  report_.reset();
  attach_.reset();
  attach_id_ = -1;
  output_.clear();
  output_sent_ = 0;
  welcome_deadline_ns_ = kNever;
  stall_deadline_ns_ = kNever;
  if (fd_ < 0) return;
  guard_->GuardSocket(-1);
  close(fd_);
  fd_ = -1;
}

}  // namespace blazed::shim
