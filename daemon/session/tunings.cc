#include "daemon/session/tunings.h"

#include <algorithm>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/base/ids.h"
#include "daemon/base/log.h"
#include "daemon/session/live_tuning.h"
#include "daemon/session/tuning_log.h"

namespace blazed::session {

namespace field = log::field;
using planner::SessionId;
using storage::TuningId;

Tunings::Tunings(Loop& loop, Recorder& recorder, Thinker& thinker, Directed& sessions)
    : loop_(loop),
      recorder_(recorder),
      sessions_(sessions),
      turns_([this](const std::string& device, TuningId tuning) { TurnGranted(device, tuning); }),
      thoughts_(
          thinker,
          [this](TuningId tuning, const planner::Think& asked) {
            auto it = live_.find(tuning);
            return it == live_.end() ? nullptr
                                     : it->second->tuning.FindThought(asked.session, asked.request);
          },
          [this](TuningId tuning, planner::ThoughtDone done) {
            Thought(tuning, std::move(done));
          }) {}

Tunings::~Tunings() {
  *alive_ = false;
  loop_.Cancel(tick_);
}

TuningId Tunings::FindLive(const storage::TuningKey& key) const {
  auto it = by_key_.find(key);
  return it == by_key_.end() ? 0 : it->second;
}

const storage::WorkloadRow* Tunings::FindWorkload(TuningId tuning) const {
  auto it = live_.find(tuning);
  return it == live_.end() ? nullptr : &it->second->workload;
}

bool Tunings::IsOpen(TuningId tuning, SessionId session, planner::DirectiveId directive) const {
  auto it = live_.find(tuning);
  return it != live_.end() && it->second->tuning.IsOpen(session, directive);
}

bool Tunings::HasKernels(TuningId tuning, const planner::Plan& plan) const {
  auto it = live_.find(tuning);
  return it != live_.end() && it->second->with_kernels.count(plan) > 0;
}

void Tunings::KeepKernels(TuningId tuning, storage::PlanKernels kernels) {
  auto it = live_.find(tuning);
  if (it != live_.end()) it->second->with_kernels.insert(kernels.plan);
  recorder_.KeepKernels(tuning, std::move(kernels));
}

void Tunings::Open(TuningId id, const storage::TuningKey& key, const storage::WorkloadRow& workload,
                   storage::Store::Memory memory, const planner::TuningConfig& config) {
  if (live_.count(id) > 0) return;
  if (memory.damaged_rows > 0) {
    log::Warning("rows of a tuning were damaged and left out",
                 {{field::kTuning, id}, {field::kCount, memory.damaged_rows}});
  }
  std::set<planner::Plan> with_kernels(memory.with_kernels.begin(), memory.with_kernels.end());
  planner::Opening opening{workload.spec, key.contract, config, ToPlannerMemory(std::move(memory))};
  recorder_.KeepEvent(OpeningRow(id, loop_.WallNs(), opening));
  auto live = std::make_unique<Live>(
      Live{id,
           key,
           workload,
           planner::Tuning(workload.spec, key.contract, config, std::move(opening.memory)),
           {},
           {},
           std::move(with_kernels)});
  live_.emplace(id, std::move(live));
  by_key_.emplace(key, id);
  log::Info("tuning opened", {{field::kTuning, id},
                              {field::kWorkload, ToHex(workload.spec.fingerprint)},
                              {field::kName, workload.spec.name}});
}

void Tunings::Join(TuningId tuning, const std::string& device, planner::SessionReady ready) {
  auto it = live_.find(tuning);
  if (it == live_.end()) return;
  const SessionId session = ready.session;
  Member member;
  member.device = device;
  member.mode = ready.mode;
  it->second->members.emplace(session, std::move(member));
  turns_.Heard(tuning, loop_.Now());
  Apply(*it->second, session, std::move(ready));
}

void Tunings::Leave(TuningId tuning, SessionId session, const std::string& reason) {
  auto it = live_.find(tuning);
  if (it == live_.end() || it->second->members.count(session) == 0) return;
  Live& live = *it->second;
  // What it missed goes with it: who searches on in its place was not asked for anything yet, and
  // says nothing before.
  turns_.Heard(tuning, loop_.Now());
  // The planner hears of it first: it may hand the search to another session of this tuning.
  Apply(live, session, planner::SessionGone{session, reason});
  auto member = live.members.find(session);
  const std::string device = member->second.device;
  live.members.erase(member);
  GiveUpTurn(live, device);
  if (live.members.empty()) Close(tuning);
}

void Tunings::Feed(TuningId tuning, SessionId session, planner::EventBody event) {
  auto it = live_.find(tuning);
  if (it == live_.end()) return;
  auto member = it->second->members.find(session);
  if (member == it->second->members.end()) return;
  if (!std::holds_alternative<planner::LeaseExpired>(event)) turns_.Heard(tuning, loop_.Now());
  TakeLeaseBack(*it->second, member->second, event);
  Apply(*it->second, session, std::move(event));
}

void Tunings::Apply(Live& live, SessionId session, planner::EventBody body) {
  planner::Event event{loop_.Now(), std::move(body)};
  KeepEvent(live, session, event);
  std::vector<planner::Action> actions = live.tuning.Apply(event);
  Withdraw(live);
  for (planner::Action& action : actions) Execute(live, std::move(action));
  TellOfHeld(live);
  std::set<std::string> devices;
  for (const auto& [id, member] : live.members) devices.insert(member.device);
  for (const std::string& device : devices) GiveUpTurn(live, device);
  ScheduleTick();
}

void Tunings::KeepEvent(const Live& live, SessionId session, const planner::Event& event) {
  recorder_.KeepEvent(EventRowOf(live.id, session, loop_.WallNs(), event));
}

void Tunings::Close(TuningId tuning) {
  auto it = live_.find(tuning);
  recorder_.KeepSurrogate(tuning, it->second->tuning.SaveSurrogate());
  by_key_.erase(it->second->key);
  live_.erase(it);
  turns_.Forget(tuning);
  log::Info("tuning closed", {{field::kTuning, tuning}});
}

// Ticks drive budgets and patience while something is open; a settled workload needs none.
bool Tunings::NeedsTicks() const {
  for (const auto& [id, live] : live_) {
    for (const auto& [session, member] : live->members) {
      if (member.mode == planner::Mode::kObserve) continue;
      const planner::Phase phase = live->tuning.phase(session);
      const bool at_rest = phase == planner::Phase::kSettled || phase == planner::Phase::kServed ||
                           phase == planner::Phase::kStanding;
      if (!at_rest || !member.leases.empty() || !member.parked.empty()) return true;
    }
  }
  return false;
}

bool Tunings::HasLeases() const {
  for (const auto& [id, live] : live_) {
    for (const auto& [session, member] : live->members) {
      if (!member.leases.empty()) return true;
    }
  }
  return false;
}

void Tunings::ScheduleTick() {
  if (tick_ != 0 || !NeedsTicks()) return;
  tick_ = loop_.After(absl::Seconds(1), [this] { Tick(); });
}

// A turn ends with a lease; one whose build or probe is never answered has none.
void Tunings::YieldLongTurns(const Live& live) {
  std::map<std::string, bool> leased;  // by device
  for (const auto& [session, member] : live.members) {
    leased[member.device] |= !member.leases.empty();
  }
  for (const auto& [device, out] : leased) {
    if (!out) turns_.YieldAfter(device, live.id, ToNanos(options_.device_turn), loop_.Now());
  }
}

void Tunings::Tick() {
  tick_ = 0;
  std::vector<TuningId> ids;
  for (const auto& [id, live] : live_) ids.push_back(id);
  for (TuningId id : ids) {
    auto it = live_.find(id);
    if (it == live_.end()) continue;
    YieldLongTurns(*it->second);
    Apply(*it->second, 0, planner::Tick{});
  }
  ScheduleTick();
}

}  // namespace blazed::session
