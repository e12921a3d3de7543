// What a tuning asks of a session: sent now, kept until it is answered, and given a deadline where
// it is a lease.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/session/directive.h"
#include "daemon/session/session_table.h"

namespace blazed::session {

namespace field = log::field;

namespace {

// The shim stops a lease at its deadline and says so. This much later its silence counts as an
// answer.
constexpr absl::Duration kLeaseSlack = absl::Seconds(2);

constexpr absl::Duration kProgressEvery = absl::Milliseconds(250);

}  // namespace

void SessionTable::Direct(planner::SessionId id, const Outbound& directive) {
  std::shared_ptr<Session> session = Find(id);
  if (session == nullptr) return;
  if (const auto* progress = std::get_if<planner::ReportProgress>(&directive)) {
    return Report(*session, *progress);
  }
  if (const planner::DirectiveId number = IdOf(directive); number != 0) {
    session->highest_directive = std::max(session->highest_directive, number);
    Unanswered& unanswered = session->unanswered[number];
    unanswered.message = directive;
    if (const auto* probe = std::get_if<planner::ProbeVariants>(&directive)) {
      unanswered.waiting.insert(probe->variants.begin(), probe->variants.end());
    }
  }
  if (const auto* drop = std::get_if<planner::DropVariant>(&directive)) {
    session->drops.emplace(session->highest_directive, drop->variant);
  }
  if (const auto* stand = std::get_if<planner::Stand>(&directive)) {
    session->standing = *stand;
    session->wanted_kernels.reset();
  }
  if (std::holds_alternative<planner::Adopt>(directive)) session->standing.reset();
  if (const auto* lease = std::get_if<planner::RunPairs>(&directive)) Lend(*session, *lease);
  if (session->link) session->link->Send(directive);
}

void SessionTable::Lend(Session& session, const planner::RunPairs& lease) {
  if (watch_) {
    session.unanswered[lease.lease].events = watch_(session.hello.device, session.peer.pid);
  }
  loop_.Cancel(session.unanswered[lease.lease].deadline);
  session.unanswered[lease.lease].deadline = loop_.After(
      ToAbsl(lease.deadline) + kLeaseSlack, [this, id = session.id, number = lease.lease] {
        if (std::shared_ptr<Session> holder = Find(id)) ExpireLease(holder, number);
      });
}

void SessionTable::ExpireLease(const std::shared_ptr<Session>& session,
                               planner::DirectiveId lease) {
  log::Info("lease expired", {{field::kSession, session->id}, {field::kDirective, lease}});
  Forget(*session, lease);
  Feed(*session, planner::LeaseExpired{session->id, lease});
}

planner::ReportProgress SessionTable::Progress(planner::SessionId id) const {
  const std::shared_ptr<Session> session = Find(id);
  return session == nullptr ? planner::ReportProgress{} : session->progress;
}

// At most four a second go out; what comes in between is merged and the last one is sent when it is
// due.
void SessionTable::Report(Session& session, const planner::ReportProgress& progress) {
  const bool other_phase = progress.phase != session.progress.phase;
  session.progress = progress;
  const planner::Nanos since = loop_.Now() - session.progress_sent;
  if (!other_phase && since < ToNanos(kProgressEvery)) {
    session.progress_due = true;
    if (progress_timer_ == 0) {
      progress_timer_ = loop_.After(kProgressEvery, [this] { SendDueProgress(); });
    }
    return;
  }
  session.progress_due = false;
  session.progress_sent = loop_.Now();
  if (session.link) session.link->Send(progress);
}

void SessionTable::SendDueProgress() {
  progress_timer_ = 0;
  for (auto& [id, session] : sessions_) {
    if (!std::exchange(session->progress_due, false)) continue;
    session->progress_sent = loop_.Now();
    if (session->link) session->link->Send(session->progress);
  }
}

}  // namespace blazed::session
