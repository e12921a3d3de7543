#include "daemon/session/session_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/log.h"

namespace blazed::session {

namespace field = log::field;

namespace {

// A stream that says nothing holds a place that others may need.
constexpr absl::Duration kHelloPatience = absl::Seconds(30);

}  // namespace

SessionTable::SessionTable(Loop& loop, Recorder& recorder, Thinker& thinker, Quarantine& quarantine,
                           DeviceLocks locks, MachineFields machine, Options options)
    : loop_(loop),
      recorder_(recorder),
      quarantine_(quarantine),
      locks_(std::move(locks)),
      machine_(std::move(machine)),
      options_(std::move(options)),
      tunings_(loop, recorder, thinker, *this) {
  tunings_.SetOptions(options_);
}

SessionTable::~SessionTable() {
  *alive_ = false;
  loop_.Cancel(progress_timer_);
  for (auto& [link, stream] : streams_) loop_.Cancel(stream.patience);
  loop_.Cancel(drain_timer_);
  for (auto& [id, session] : sessions_) {
    loop_.Cancel(session->process_watch);
    loop_.Cancel(session->grace);
    for (auto& [directive, unanswered] : session->unanswered) loop_.Cancel(unanswered.deadline);
  }
}

void SessionTable::Attach(const std::shared_ptr<Link>& link, Peer peer) {
  Stream& stream = streams_[link.get()];
  stream.link = link;
  stream.peer = std::move(peer);
  stream.patience = loop_.After(kHelloPatience, [link] {
    link->End(absl::DeadlineExceededError("no Hello came; send it first and at once"));
  });
}

void SessionTable::Receive(const std::shared_ptr<Link>& link, uint64_t sequence, Inbound message,
                           Done done) {
  auto it = streams_.find(link.get());
  if (it == streams_.end()) return done(absl::CancelledError("the stream has ended"));
  Stream& stream = it->second;
  if (auto* hello = std::get_if<Hello>(&message)) {
    return Open(stream, sequence, std::move(*hello), std::move(done));
  }
  std::shared_ptr<Session> session = stream.session;
  if (session == nullptr) {
    link->Send(Refused{sequence, "the first message of a stream must be Hello; send it first"});
    return done(absl::OkStatus());
  }
  std::visit(
      [&](auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, GraphSeen>) {
          See(*session, sequence, std::move(body), done);
        } else if constexpr (std::is_same_v<Body, WorkloadSeen>) {
          See(session, sequence, std::move(body), std::move(done));
        } else if constexpr (std::is_same_v<Body, Bye>) {
          Leave(session, body, done);
        } else if constexpr (!std::is_same_v<Body, Hello>) {
          done(Answer(*session, sequence, std::move(body)));
        }
      },
      message);
}

std::vector<SessionSummary> SessionTable::Summaries() const {
  std::vector<SessionSummary> all;
  for (const auto& [id, session] : sessions_) {
    SessionSummary summary;
    summary.id = id;
    summary.uid = session->peer.uid;
    summary.pid = session->peer.pid;
    summary.principal = session->peer.principal;
    summary.job = session->row.job;
    summary.host_name = session->hello.host_name;
    if (session->workload) {
      summary.workload = session->workload->row.spec.fingerprint;
      summary.workload_name = session->workload->row.spec.name;
    }
    summary.progress = session->progress;
    summary.attached = loop_.Now() - session->attached;
    all.push_back(std::move(summary));
  }
  return all;
}

namespace {

bool MaySee(const std::string& principal, const std::string& owner) {
  return principal == kRootOfTheMachine || principal == owner;
}

}  // namespace

absl::StatusOr<planner::SessionId> SessionTable::FindByToken(const SessionToken& token,
                                                             const std::string& principal) const {
  for (const auto& [id, session] : sessions_) {
    if (session->token == token && MaySee(principal, session->peer.principal)) return id;
  }
  for (const Past& past : past_) {
    if (past.token == token && MaySee(principal, past.principal)) return past.id;
  }
  return absl::NotFoundError("no session of this user has that token; attach and use its Welcome");
}

absl::StatusOr<planner::SessionId> SessionTable::FindByNumber(planner::SessionId number,
                                                              const std::string& principal) const {
  const std::shared_ptr<Session> session = Find(number);
  if (session != nullptr && MaySee(principal, session->peer.principal)) return number;
  for (const Past& past : past_) {
    if (past.id == number && MaySee(principal, past.principal)) return number;
  }
  return absl::NotFoundError(absl::StrCat("no session ", number,
                                          " of this user is remembered since the daemon's start; "
                                          "blazectl status lists those attached"));
}

std::string SessionTable::WhyNotKept(planner::SessionId id) const {
  const std::shared_ptr<Session> session = Find(id);
  if (session == nullptr || !session->standing) return "";
  const planner::Stand& last = *session->standing;
  return last.reason == planner::StandReason::kStoreFailed ? last.detail : "";
}

void SessionTable::Refuse(const Session& session, uint64_t sequence, const std::string& detail) {
  log::Debug("message refused", {{field::kSession, session.id}, {field::kReason, detail}});
  if (session.link) session.link->Send(Refused{sequence, detail});
}

std::shared_ptr<Session> SessionTable::Find(planner::SessionId id) const {
  auto it = sessions_.find(id);
  return it == sessions_.end() ? nullptr : it->second;
}

}  // namespace blazed::session
