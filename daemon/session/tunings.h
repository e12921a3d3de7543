// Every tuning that has a session, and what it asks for. Feeds events to the planner, keeps them,
// and carries out its actions: directives to sessions, rows to the store, settlements to the disk
// before anybody hears of them.
//
// The strand only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/planner/tuning.h"
#include "daemon/session/device_turns.h"
#include "daemon/session/loop.h"
#include "daemon/session/messages.h"
#include "daemon/session/options.h"
#include "daemon/session/recorder.h"
#include "daemon/session/thought_line.h"
#include "storage/records.h"

namespace blazed::session {

// Where directives go. Implemented by SessionTable.
class Directed {
 public:
  virtual ~Directed() = default;
  virtual void Direct(planner::SessionId session, const Outbound& directive) = 0;
  // What was last said of a session; empty where it is not attached or nothing was said.
  virtual planner::ReportProgress Progress(planner::SessionId session) const = 0;
};

class Tunings {
 public:
  Tunings(Loop& loop, Recorder& recorder, Thinker& thinker, Directed& sessions);
  ~Tunings();

  // The tuning of a key that has a session, 0 otherwise.
  storage::TuningId FindLive(const storage::TuningKey& key) const;
  // What a live tuning tunes; null where it is not live.
  const storage::WorkloadRow* FindWorkload(storage::TuningId tuning) const;

  // Opens a tuning that is not live. Harmless when it is.
  void Open(storage::TuningId id, const storage::TuningKey& key,
            const storage::WorkloadRow& workload, storage::Store::Memory memory,
            const planner::TuningConfig& config);

  // A session of the tuning is ready, on a device; it may get directives before this returns.
  void Join(storage::TuningId tuning, const std::string& device, planner::SessionReady ready);
  void Leave(storage::TuningId tuning, planner::SessionId session, const std::string& reason);

  // An answer or a service window of a session.
  void Feed(storage::TuningId tuning, planner::SessionId session, planner::EventBody event);

  // What a plan of the tuning runs: whether that is stored, and how it comes there.
  bool HasKernels(storage::TuningId tuning, const planner::Plan& plan) const;
  void KeepKernels(storage::TuningId tuning, storage::PlanKernels kernels);

  // A session of the tuning lives, though what it said changes nothing.
  void Heard(storage::TuningId tuning) { turns_.Heard(tuning, loop_.Now()); }

  void SetOptions(const Options& options) { options_ = options; }

  // Whether the tuning still waits for the session's answer to this directive.
  bool IsOpen(storage::TuningId tuning, planner::SessionId session,
              planner::DirectiveId directive) const;

  // From here on nothing that explores is asked for; answers still count.
  void Drain() { draining_ = true; }
  bool HasLeases() const;

 private:
  struct Member {
    std::string device;
    planner::Mode mode = planner::Mode::kObserve;
    std::set<planner::DirectiveId> leases;  // out, without an answer
    std::vector<Outbound> parked;    // wait for the device's turn; drops behind what they follow
    planner::ReportProgress behind;  // while something is parked: what it will be when it has one
  };
  struct Live;

  void Apply(Live& live, planner::SessionId session, planner::EventBody event);
  void KeepEvent(const Live& live, planner::SessionId session, const planner::Event& event);
  void Execute(Live& live, planner::Action action);
  void Settle(Live& live, planner::Settle request);
  void Settled(storage::TuningId tuning, uint64_t request, absl::StatusOr<uint64_t> id);
  void Think(Live& live, const planner::Think& asked);
  void Thought(storage::TuningId tuning, planner::ThoughtDone done);
  void Explore(Live& live, planner::SessionId session, Outbound directive);
  void Drop(Live& live, planner::SessionId session, planner::VariantId variant,
            const Outbound& drop);
  void Withdraw(Live& live);
  void Report(Live& live, planner::ReportProgress progress);
  void SayWaiting(const Live& live, const Member& member);
  void TellOfHeld(Live& live);
  void YieldLongTurns(const Live& live);
  void Send(Member& member, planner::SessionId session, const Outbound& directive);
  void TakeLeaseBack(Live& live, Member& member, const planner::EventBody& event);
  bool Explores(const Live& live, planner::SessionId session, const Member& member) const;
  void GiveUpTurn(const Live& live, const std::string& device);
  void TurnGranted(const std::string& device, storage::TuningId tuning);
  void Close(storage::TuningId tuning);
  bool NeedsTicks() const;
  void ScheduleTick();
  void Tick();

  Loop& loop_;
  Recorder& recorder_;
  Directed& sessions_;
  Options options_;
  bool draining_ = false;
  DeviceTurns turns_;
  std::map<storage::TuningId, std::unique_ptr<Live>> live_;
  std::map<storage::TuningKey, storage::TuningId> by_key_;
  ThoughtLine thoughts_;
  Loop::Handle tick_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace blazed::session
