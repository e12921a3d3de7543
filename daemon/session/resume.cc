// A shim that lost its stream comes back to its session.
#include <utility>

#include "daemon/base/log.h"
#include "daemon/session/session_table.h"

namespace blazed::session {

namespace field = log::field;

// The token alone is not enough: the same user must show it from the same process. Any other caller
// gets a session of its own, as does one whose session ended or belonged to an earlier daemon.
std::shared_ptr<Session> SessionTable::FindResumable(const Hello& hello, const Peer& peer) const {
  if (!hello.resume.has_value()) return nullptr;
  for (const auto& [id, session] : sessions_) {
    const bool same = session->token == *hello.resume &&
                      session->peer.principal == peer.principal &&
                      session->peer.process == peer.process;
    if (same) return session;
  }
  return nullptr;
}

void SessionTable::Resume(Stream& stream, const std::shared_ptr<Session>& session) {
  if (session->link != nullptr) {
    auto earlier = streams_.find(session->link.get());
    if (earlier != streams_.end()) earlier->second.session = nullptr;
    session->link->End(absl::AbortedError("the session went on in another stream"));
  }
  stream.session = session;
  session->link = stream.link;
  session->peer.pidfd = stream.peer.pidfd ? stream.peer.pidfd : session->peer.pidfd;
  loop_.Cancel(std::exchange(session->grace, 0));
  log::Info("session resumed",
            {{field::kSession, session->id}, {field::kCount, session->unanswered.size()}});
  Welcome(*session);
  SendAgain(*session);
  if (const auto& wanted = session->wanted_kernels) {
    session->link->Send(session::WantKernels{wanted->variant});
  }
  if (session->standing) session->link->Send(*session->standing);
}

// In the order of their ids, each drop behind what was asked before it. The shim answers a
// directive that it knows with the answer already given, and drops a variant once. What the tuning
// waits for no more is not said again.
void SessionTable::SendAgain(const Session& session) {
  auto drop = session.drops.begin();
  const auto send_drops = [&](planner::DirectiveId before) {
    for (; drop != session.drops.end() && drop->first < before; ++drop) {
      session.link->Send(planner::DropVariant{session.id, drop->second});
    }
  };
  for (const auto& [id, unanswered] : session.unanswered) {
    if (!tunings_.IsOpen(session.row.tuning, session.id, id)) continue;
    send_drops(id);
    session.link->Send(unanswered.message);
  }
  send_drops(UINT64_MAX);
}

}  // namespace blazed::session
