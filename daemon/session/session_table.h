// Who is attached. One file a verb: open, resume, describe, direct, answer, reap; and kernels, what
// a settled plan runs.
//
// The strand only, but for the constructor. rpc posts every message here; nothing blocks.
// A session ends when its process does (pidfd, also while a forked child holds the socket), when
// its shim says Bye, when a lost stream is not resumed in time, or when an operator's change takes
// its mode away.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/base/quarantine.h"
#include "daemon/session/device_locks.h"
#include "daemon/session/grant.h"
#include "daemon/session/loop.h"
#include "daemon/session/messages.h"
#include "daemon/session/options.h"
#include "daemon/session/rate.h"
#include "daemon/session/recorder.h"
#include "daemon/session/session.h"
#include "daemon/session/tunings.h"

namespace blazed::session {

// Fields of the environment that the daemon sees itself, by device key.
using MachineFields = std::function<std::map<std::string, std::string>(const std::string& device)>;

// Begins to watch a device for a process that measures there. What it returns says which events of
// the machine (flags of a unit) happened since then; null where nothing is known of the device.
using DeviceWatch =
    std::function<std::function<uint32_t()>(const std::string& device, int32_t pid)>;

// For status answers.
struct SessionSummary {
  planner::SessionId id = 0;
  uint32_t uid = 0;
  int32_t pid = 0;
  std::string principal;
  std::string job, host_name, workload_name;
  planner::Digest workload{};  // zero until described
  planner::ReportProgress progress;
  planner::Nanos attached{};
};

class SessionTable final : public Directed {
 public:
  // Called when a message was dealt with and the next one may be read; a status that is not OK ends
  // the stream.
  using Done = std::function<void(absl::Status)>;

  SessionTable(Loop& loop, Recorder& recorder, Thinker& thinker, Quarantine& quarantine,
               DeviceLocks locks, MachineFields machine, Options options);
  ~SessionTable() override;
  // From here on every lease is watched; its units carry the events.
  void SetWatch(DeviceWatch watch) { watch_ = std::move(watch); }

  // ---- streams ----
  void Attach(const std::shared_ptr<Link>& link, Peer peer);
  void Receive(const std::shared_ptr<Link>& link, uint64_t sequence, Inbound message, Done done);
  void Detach(const std::shared_ptr<Link>& link, const std::string& why);

  // ---- queries ----
  std::vector<SessionSummary> Summaries() const;
  // Which session a token names, for its own principal and for root of the machine. Also a while
  // after the session ended. NOT_FOUND for everybody else.
  absl::StatusOr<planner::SessionId> FindByToken(const SessionToken& token,
                                                 const std::string& principal) const;
  // The same by number, for people who read it in a status answer.
  absl::StatusOr<planner::SessionId> FindByNumber(planner::SessionId number,
                                                  const std::string& principal) const;
  // Why the settlement of an attached session could not be kept; empty where none failed.
  std::string WhyNotKept(planner::SessionId id) const;
  size_t size() const { return sessions_.size(); }

  // ---- operators ----
  // Sessions whose mode the change touches end with UNAVAILABLE and come back under it.
  void Reload(const Options& options);
  // Lets the leases that are out end, at most for `patience`, and gives out no others; then runs
  // `done`.
  void Drain(absl::Duration patience, std::function<void()> done);
  // Sends every session back to the default and ends its stream.
  void StandAll(planner::StandReason reason, const std::string& detail);
  void EndAll(absl::Status status);
  // The store can no longer keep evidence; the cause is in quarantine.
  void StoreFailed();

  // ---- from the tunings ----
  void Direct(planner::SessionId session, const Outbound& directive) override;
  planner::ReportProgress Progress(planner::SessionId session) const override;

 private:
  struct Stream {
    std::shared_ptr<Link> link;
    Peer peer;
    std::shared_ptr<Session> session;  // null before Hello
    Loop::Handle patience = 0;         // for Hello
  };
  // How a session in the past is remembered for its report.
  struct Past {
    SessionToken token{};
    planner::SessionId id = 0;
    std::string principal;
  };

  // open.cc
  void Open(Stream& stream, uint64_t sequence, Hello hello, Done done);
  void Opened(const std::shared_ptr<Session>& session, absl::StatusOr<planner::SessionId> id,
              const Done& done);
  absl::Status CheckRoom(uint32_t uid);
  Granted GrantNow(Session& session);
  std::shared_ptr<Session> MakeSession(const Stream& stream, Hello hello);
  void Welcome(const Session& session);
  // resume.cc
  std::shared_ptr<Session> FindResumable(const Hello& hello, const Peer& peer) const;
  void Resume(Stream& stream, const std::shared_ptr<Session>& session);
  void SendAgain(const Session& session);
  // describe.cc
  void See(Session& session, uint64_t sequence, GraphSeen graph, const Done& done);
  void See(const std::shared_ptr<Session>& session, uint64_t sequence, WorkloadSeen workload,
           Done done);
  absl::StatusOr<Description> Describe(const Session& session, const WorkloadSeen& seen) const;
  void Described(const std::shared_ptr<Session>& session, uint64_t sequence,
                 const storage::TuningKey& key, absl::StatusOr<OpenedTuning> opened,
                 const Done& done);
  planner::SessionReady MakeReady(const Session& session) const;
  // direct.cc
  void Lend(Session& session, const planner::RunPairs& lease);
  void Report(Session& session, const planner::ReportProgress& progress);
  void SendDueProgress();
  // answer.cc
  absl::Status Answer(Session& session, uint64_t sequence, planner::VariantBuilt event);
  absl::Status Answer(Session& session, uint64_t sequence, planner::ProbeDone event);
  absl::Status Answer(Session& session, uint64_t sequence, planner::LeaseDone event);
  absl::Status Answer(Session& session, uint64_t sequence, planner::DirectiveRefused event);
  absl::Status Answer(Session& session, uint64_t sequence, planner::ServiceWindow event);
  absl::Status Answer(Session& session, uint64_t sequence, planner::VariantAdopted event);
  // kernels.cc
  absl::Status Answer(Session& session, uint64_t sequence, KernelsSeen kernels);
  void WantKernels(Session& session, const planner::Adopt& adopt);
  template <typename Directive>
  const Directive* FindUnanswered(Session& session, uint64_t sequence, planner::DirectiveId id);
  void TakeBack(Session& session, planner::DirectiveRefused event);
  void Settle(Session& session, planner::DirectiveId id);  // the directive has its answer
  void Forget(Session& session, planner::DirectiveId id);  // it will have none
  void Feed(Session& session, planner::EventBody event);
  void ExpireLease(const std::shared_ptr<Session>& session, planner::DirectiveId lease);
  // reap.cc
  void WatchProcess(const std::shared_ptr<Session>& session);
  void Leave(const std::shared_ptr<Session>& session, const Bye& bye, const Done& done);
  void End(const std::shared_ptr<Session>& session, const std::string& reason, absl::Status status);

  void FinishDrain();
  void NoteWindowLeftOut(const Session& session);

  void Refuse(const Session& session, uint64_t sequence, const std::string& detail);
  std::shared_ptr<Session> Find(planner::SessionId id) const;

  Loop& loop_;
  Recorder& recorder_;
  Quarantine& quarantine_;
  DeviceLocks locks_;
  const MachineFields machine_;
  DeviceWatch watch_;
  Options options_;
  Tunings tunings_;
  Rate attaches_{std::chrono::minutes(1)};
  Rate windows_{std::chrono::seconds(1)};
  uint64_t windows_left_out_ = 0;
  std::map<const Link*, Stream> streams_;
  std::map<planner::SessionId, std::shared_ptr<Session>> sessions_;  // from kOpen on
  std::map<uint32_t, uint32_t> opening_;                             // by uid, until then
  std::deque<Past> past_;
  Loop::Handle progress_timer_ = 0;
  std::function<void()> drained_;  // set while a drain waits
  Loop::Handle drain_timer_ = 0;
  // Answers of the recorder and timers may come after the table is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace blazed::session
