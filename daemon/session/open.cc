// Hello to Welcome.
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/log.h"
#include "daemon/session/grant.h"
#include "daemon/session/session_table.h"
#include "proto/device_name.h"

namespace blazed::session {

namespace field = log::field;

void SessionTable::Open(Stream& stream, uint64_t sequence, Hello hello, Done done) {
  if (stream.session != nullptr) {
    Refuse(*stream.session, sequence, "this stream has its session; send Hello once");
    return done(absl::OkStatus());
  }
  loop_.Cancel(std::exchange(stream.patience, 0));
  if (!IsDeviceName(hello.device)) {
    return done(absl::InvalidArgumentError(
        absl::StrCat("device \"", hello.device,
                     "\" is neither cpu nor a GPU's UUID as its driver writes it; send one")));
  }
  if (std::shared_ptr<Session> session = FindResumable(hello, stream.peer)) {
    Resume(stream, session);
    return done(absl::OkStatus());
  }
  if (absl::Status room = CheckRoom(stream.peer.uid); !room.ok()) return done(room);
  std::shared_ptr<Session> session = MakeSession(stream, std::move(hello));
  stream.session = session;
  ++opening_[session->peer.uid];
  recorder_.OpenSession(session->row, [this, alive = alive_, session, done = std::move(done)](
                                          absl::StatusOr<planner::SessionId> id) {
    if (*alive) Opened(session, std::move(id), done);
  });
}

absl::Status SessionTable::CheckRoom(uint32_t uid) {
  auto opening = opening_.find(uid);
  uint32_t count = opening == opening_.end() ? 0 : opening->second;
  for (const auto& [id, session] : sessions_) count += session->peer.uid == uid;
  if (count >= options_.sessions_per_user) {
    return absl::ResourceExhaustedError(
        absl::StrCat("user ", uid, " has ", count,
                     " sessions, which is the limit; end one or raise limits.sessions_per_user"));
  }
  if (attaches_.Take(uid, options_.attaches_per_minute, loop_.Now())) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("user ", uid, " opened ", options_.attaches_per_minute,
                   " sessions within a minute, which is the limit; attach again later or raise "
                   "limits.attaches_per_minute"));
}

std::shared_ptr<Session> SessionTable::MakeSession(const Stream& stream, Hello hello) {
  auto session = std::make_shared<Session>();
  session->token = MakeToken();
  session->peer = stream.peer;
  session->link = stream.link;
  session->attached = loop_.Now();
  session->hello = std::move(hello);
  Granted granted = GrantNow(*session);
  session->mode = granted.mode;
  session->mode_reason = std::move(granted.reason);
  storage::SessionRow& row = session->row;
  row.uid = stream.peer.uid;
  row.pid = stream.peer.pid;
  row.process = stream.peer.process;
  row.job = session->hello.job.empty() ? absl::StrCat("pid-", stream.peer.pid) : session->hello.job;
  row.host_name = session->hello.host_name;
  row.device = session->hello.device;
  row.mode = granted.mode;
  row.attached_ns = loop_.WallNs();
  return session;
}

// What the session may do as things stand. Takes the device for it where that is more than to
// observe, and gives it back where it is not.
Granted SessionTable::GrantNow(Session& session) {
  const absl::Status store = quarantine_.cause();
  Granted granted = Grant(session.hello, options_, absl::OkStatus(), store);
  if (granted.mode == planner::Mode::kObserve) {
    session.device = nullptr;
  } else if (session.device == nullptr) {
    absl::StatusOr<DeviceLocks::Hold> hold = locks_.Own(session.hello.device, session.peer.uid);
    if (!hold.ok()) return Grant(session.hello, options_, hold.status(), store);
    session.device = *std::move(hold);
  }
  return granted;
}

void SessionTable::Opened(const std::shared_ptr<Session>& session,
                          absl::StatusOr<planner::SessionId> id, const Done& done) {
  if (--opening_[session->peer.uid] == 0) opening_.erase(session->peer.uid);
  if (!id.ok()) {
    for (auto& [link, stream] : streams_) {
      if (stream.session == session) stream.session = nullptr;
    }
    return done(absl::UnavailableError(absl::StrCat(
        "the store took no session: ", id.status().message(), "; train on and attach later")));
  }
  session->id = *id;
  session->row.id = *id;
  session->stage = Stage::kOpen;
  // The policy, the pause or the store may have changed while the store worked.
  Granted granted = GrantNow(*session);
  session->mode_reason = std::move(granted.reason);
  if (std::exchange(session->mode, granted.mode) != granted.mode) {
    session->row.mode = granted.mode;
    recorder_.UpdateSession(session->row);
  }
  sessions_.emplace(*id, session);
  log::Info("session opened", {{field::kSession, *id},
                               {field::kPrincipal, session->peer.principal},
                               {field::kPid, session->peer.pid},
                               {field::kJob, session->row.job},
                               {field::kHost, session->hello.host_name},
                               {field::kDevice, session->hello.device},
                               {field::kReason, session->mode_reason}});
  Welcome(*session);
  done(absl::OkStatus());
  if (session->link == nullptr) {
    // The stream was lost while the store worked; nobody knows the token, so nobody comes back.
    return End(session, "the stream was lost before Welcome", absl::OkStatus());
  }
  WatchProcess(session);
}

void SessionTable::Welcome(const Session& session) {
  if (session.link == nullptr) return;
  session::Welcome welcome;
  welcome.token = session.token;
  welcome.epoch = recorder_.epoch();
  welcome.mode = session.mode;
  welcome.mode_reason = session.mode_reason;
  welcome.probe_batches = TuningFor(options_, session.hello.contract).probe_batches;
  session.link->Send(welcome);
}

}  // namespace blazed::session
