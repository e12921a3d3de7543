// How sessions end: the process is gone, Bye, a lost stream that nobody resumes, or an operator's
// change.
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/log.h"
#include "daemon/session/grant.h"
#include "daemon/session/session_table.h"

namespace blazed::session {

namespace field = log::field;

namespace {

constexpr size_t kMostPast = 1024;

}  // namespace

// A forked child may hold the socket for ever, so only the pidfd tells that the process is gone.
void SessionTable::WatchProcess(const std::shared_ptr<Session>& session) {
  if (session->peer.pidfd == nullptr) return;
  session->process_watch = loop_.WhenReadable(session->peer.pidfd, [this, id = session->id] {
    std::shared_ptr<Session> dead = Find(id);
    if (dead == nullptr) return;
    dead->process_watch = 0;
    End(dead, "its process ended", absl::AbortedError("the process of this session has ended"));
  });
}

void SessionTable::Detach(const std::shared_ptr<Link>& link, const std::string& why) {
  auto it = streams_.find(link.get());
  if (it == streams_.end()) return;
  loop_.Cancel(it->second.patience);
  std::shared_ptr<Session> session = std::move(it->second.session);
  streams_.erase(it);
  if (session == nullptr || session->link != link) return;
  session->link = nullptr;
  if (session->stage == Stage::kOpening) return;  // Opened ends it
  log::Info("stream lost", {{field::kSession, session->id}, {field::kReason, why}});
  if (Find(session->id) != session) return;
  session->grace = loop_.After(options_.resume_grace, [this, id = session->id] {
    if (std::shared_ptr<Session> lost = Find(id)) {
      lost->grace = 0;
      End(lost, "its stream was lost and not resumed", absl::OkStatus());
    }
  });
}

void SessionTable::Leave(const std::shared_ptr<Session>& session, const Bye& bye,
                         const Done& done) {
  done(absl::OkStatus());
  End(session, bye.reason.empty() ? "bye" : absl::StrCat("bye: ", bye.reason), absl::OkStatus());
}

// The session is out of every table before its tuning hears of it: a directive that comes of that
// finds nobody.
void SessionTable::End(const std::shared_ptr<Session>& session, const std::string& reason,
                       absl::Status status) {
  if (sessions_.erase(session->id) == 0) return;
  loop_.Cancel(std::exchange(session->process_watch, 0));
  loop_.Cancel(std::exchange(session->grace, 0));
  for (auto& [id, unanswered] : session->unanswered) loop_.Cancel(unanswered.deadline);
  session->unanswered.clear();
  session->device = nullptr;
  if (std::shared_ptr<Link> link = std::exchange(session->link, nullptr)) {
    auto stream = streams_.find(link.get());
    if (stream != streams_.end()) stream->second.session = nullptr;
    link->End(std::move(status));
  }
  past_.push_back({session->token, session->id, session->peer.principal});
  if (past_.size() > kMostPast) past_.pop_front();
  log::Info("session ended", {{field::kSession, session->id}, {field::kReason, reason}});
  tunings_.Leave(session->row.tuning, session->id, reason);
  if (drained_ && !tunings_.HasLeases()) FinishDrain();
  session->row.gone_ns = loop_.WallNs();
  session->row.gone_reason = reason;
  recorder_.UpdateSession(session->row);
}

void SessionTable::Drain(absl::Duration patience, std::function<void()> done) {
  tunings_.Drain();
  drained_ = std::move(done);
  if (!tunings_.HasLeases()) return FinishDrain();
  drain_timer_ = loop_.After(patience, [this] { FinishDrain(); });
}

void SessionTable::FinishDrain() {
  loop_.Cancel(std::exchange(drain_timer_, 0));
  if (auto done = std::exchange(drained_, nullptr)) done();
}

void SessionTable::StandAll(planner::StandReason reason, const std::string& detail) {
  std::vector<std::shared_ptr<Session>> all;
  for (const auto& [id, session] : sessions_) all.push_back(session);
  for (const auto& session : all) {
    if (session->link && session->mode != planner::Mode::kObserve) {
      session->link->Send(planner::Stand{session->id, reason, detail});
    }
    End(session, detail, absl::UnavailableError(absl::StrCat(detail, "; attach again")));
  }
}

void SessionTable::EndAll(absl::Status status) {
  std::vector<std::shared_ptr<Session>> all;
  for (const auto& [id, session] : sessions_) all.push_back(session);
  for (const auto& session : all) End(session, std::string(status.message()), status);
  // Streams without a session yet.
  std::vector<std::shared_ptr<Link>> links;
  for (const auto& [key, stream] : streams_) links.push_back(stream.link);
  for (const auto& link : links) link->End(status);
}

void SessionTable::StoreFailed() {
  log::Error("quarantine: the store cannot keep evidence; sessions stand on the default plan",
             {{field::kReason, std::string(quarantine_.cause().message())}});
  StandAll(planner::StandReason::kStoreFailed, "the store cannot keep evidence");
}

void SessionTable::Reload(const Options& options) {
  options_ = options;
  tunings_.SetOptions(options);
  struct Touched {
    std::shared_ptr<Session> session;
    bool falls = false;
  };
  std::vector<Touched> touched;
  for (const auto& [id, session] : sessions_) {
    const planner::Mode mode = GrantNow(*session).mode;
    if (mode != session->mode) touched.push_back({session, Rank(mode) < Rank(session->mode)});
  }
  const bool pausing = options.pause == Pause::kOn;
  for (const auto& [session, falls] : touched) {
    const char* why =
        pausing ? "an operator has paused blazed" : "the policy of the daemon changed";
    // A session that may do more from now on keeps its plan until it is back.
    if (session->link && falls) {
      session->link->Send(planner::Stand{
          session->id, pausing ? planner::StandReason::kPaused : planner::StandReason::kPolicy,
          why});
    }
    End(session, why, absl::UnavailableError(absl::StrCat(why, "; attach again")));
  }
}

}  // namespace blazed::session
