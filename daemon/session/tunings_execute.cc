// What a tuning asks for, carried out.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/session/directive.h"
#include "daemon/session/live_tuning.h"
#include "daemon/session/tuning_log.h"
#include "daemon/session/tunings.h"

namespace blazed::session {

namespace field = log::field;
using planner::SessionId;
using storage::TuningId;

namespace {

// The session that a directive is for; 0 for rows.
SessionId Target(const planner::Action& action) {
  return std::visit(
      [](const auto& a) -> SessionId {
        using A = std::decay_t<decltype(a)>;
        constexpr bool directive =
            std::is_same_v<A, planner::BuildVariant> || std::is_same_v<A, planner::ProbeVariants> ||
            std::is_same_v<A, planner::RunPairs> || std::is_same_v<A, planner::Adopt> ||
            std::is_same_v<A, planner::DropVariant> || std::is_same_v<A, planner::Stand> ||
            std::is_same_v<A, planner::ReportProgress>;
        if constexpr (directive) return a.session;
        return 0;
      },
      action);
}

bool NamedIn(const std::vector<Outbound>& directives, planner::VariantId variant) {
  return std::any_of(directives.begin(), directives.end(),
                     [variant](const Outbound& each) { return Names(each, variant); });
}

}  // namespace

void Tunings::Execute(Live& live, planner::Action action) {
  if (auto notice = NoticeOf(live.id, loop_.WallNs(), live.workload.spec, action)) {
    recorder_.KeepEvent(*std::move(notice));
  }
  if (auto* settle = std::get_if<planner::Settle>(&action)) {
    Settle(live, std::move(*settle));
    return;
  }
  if (const auto* asked = std::get_if<planner::Think>(&action)) {
    Think(live, *asked);
    return;
  }
  const SessionId session = Target(action);
  if (session == 0) {
    recorder_.KeepRow(live.id, std::move(action));
    return;
  }
  std::visit(
      [&](auto& a) {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, planner::BuildVariant> ||
                      std::is_same_v<A, planner::ProbeVariants> ||
                      std::is_same_v<A, planner::RunPairs>) {
          Explore(live, session, Outbound(std::move(a)));
        } else if constexpr (std::is_same_v<A, planner::DropVariant>) {
          Drop(live, session, a.variant, Outbound(a));
        } else if constexpr (std::is_same_v<A, planner::ReportProgress>) {
          Report(live, std::move(a));
        } else if constexpr (std::is_constructible_v<Outbound, A>) {
          sessions_.Direct(session, Outbound(std::move(a)));
        }
      },
      action);
}

void Tunings::Think(Live& live, const planner::Think& asked) {
  if (!draining_) thoughts_.Join(live.id, asked);
}

void Tunings::Thought(TuningId tuning, planner::ThoughtDone done) {
  auto it = live_.find(tuning);
  const SessionId session = done.session;
  if (it != live_.end()) Apply(*it->second, session, std::move(done));
}

// Builds and probes of a settled plan serve a job and disturb little, so they need no turn; all
// else that explores does.
void Tunings::Explore(Live& live, SessionId session, Outbound directive) {
  auto it = live.members.find(session);
  if (it == live.members.end()) return;
  Member& member = it->second;
  if (draining_ || !live.tuning.IsOpen(session, IdOf(directive))) return;
  const bool lease = std::holds_alternative<planner::RunPairs>(directive);
  if (lease && member.mode != planner::Mode::kTune) {
    log::Error("a lease for a session that does not tune was withheld",
               {{field::kSession, session}});
    return;
  }
  const bool serving = live.tuning.phase(session) == planner::Phase::kServed ||
                       live.tuning.phase(session) == planner::Phase::kWaiting;
  const bool needs_turn = lease || !serving;
  const bool must_wait = needs_turn && turns_.Ask(member.device, live.id, live.key.uid,
                                                  loop_.Now()) == DeviceTurns::Answer::kWait;
  if (!must_wait && member.parked.empty()) {
    Send(member, session, directive);
    return;
  }
  const bool begins = member.parked.empty();
  live.held.push_back({session, IdOf(directive)});
  member.parked.push_back(std::move(directive));
  if (!begins) return;
  member.behind = sessions_.Progress(session);  // counts and costs stand
  member.behind.session = session;
  SayWaiting(live, member);
}

// Once all that was asked together is carried out: what comes of it is asked for behind that. A
// turn that came meanwhile may have sent it.
void Tunings::TellOfHeld(Live& live) {
  for (const planner::DirectiveHeld& held : std::exchange(live.held, {})) {
    const auto it = live.members.find(held.session);
    if (it == live.members.end()) continue;
    const std::vector<Outbound>& parked = it->second.parked;
    const bool waits = std::any_of(parked.begin(), parked.end(), [&](const Outbound& each) {
      return IdOf(each) == held.directive;
    });
    if (waits) Apply(live, held.session, held);
  }
}

// What the planner says of a session that waits for a turn is kept until it has one: the planner
// knows what is held, and nothing of turns.
void Tunings::Report(Live& live, planner::ReportProgress progress) {
  auto it = live.members.find(progress.session);
  if (it == live.members.end() || it->second.parked.empty()) {
    sessions_.Direct(progress.session, progress);
    return;
  }
  it->second.behind = std::move(progress);
  SayWaiting(live, it->second);
}

void Tunings::SayWaiting(const Live& live, const Member& member) {
  planner::ReportProgress waiting = member.behind;
  waiting.phase = planner::Phase::kWaiting;
  waiting.note = turns_.IsSilent(live.id)
                     ? "two leases in a row had no answer; waiting for a sign of the job"
                     : "another workload explores this device; waiting for a turn";
  sessions_.Direct(waiting.session, waiting);
}

// A build or probe of the variant that still waits would bring it back behind its drop.
void Tunings::Drop(Live& live, SessionId session, planner::VariantId variant,
                   const Outbound& drop) {
  auto it = live.members.find(session);
  if (it != live.members.end() && NamedIn(it->second.parked, variant)) {
    it->second.parked.push_back(drop);
    return;
  }
  sessions_.Direct(session, drop);
}

// What waits for the device's turn goes when the planner waits for it no more: the search ended,
// the session stands, the settlement was demoted.
void Tunings::Withdraw(Live& live) {
  for (auto& [session, member] : live.members) {
    if (member.parked.empty()) continue;
    for (Outbound& waiting : std::exchange(member.parked, {})) {
      const auto* drop = std::get_if<planner::DropVariant>(&waiting);
      if (drop == nullptr && !live.tuning.IsOpen(session, IdOf(waiting))) continue;
      if (drop != nullptr && !NamedIn(member.parked, drop->variant)) {
        sessions_.Direct(session, waiting);
      } else {
        member.parked.push_back(std::move(waiting));
      }
    }
    if (member.parked.empty()) sessions_.Direct(session, member.behind);
  }
}

void Tunings::Send(Member& member, SessionId session, const Outbound& directive) {
  if (const auto* lease = std::get_if<planner::RunPairs>(&directive)) {
    member.leases.insert(lease->lease);
  }
  sessions_.Direct(session, directive);
}

void Tunings::TurnGranted(const std::string& device, TuningId tuning) {
  auto it = live_.find(tuning);
  if (it == live_.end()) return;
  Live& live = *it->second;
  std::vector<planner::DirectiveSent> sent;
  for (auto& [session, member] : live.members) {
    if (member.device != device || member.parked.empty()) continue;
    for (const Outbound& directive : std::exchange(member.parked, {})) {
      if (draining_) continue;
      Send(member, session, directive);
      if (IdOf(directive) != 0) sent.push_back({session, IdOf(directive)});
    }
    sessions_.Direct(session, member.behind);
  }
  for (const planner::DirectiveSent& each : sent) Apply(live, each.session, each);
}

void Tunings::TakeLeaseBack(Live& live, Member& member, const planner::EventBody& event) {
  planner::DirectiveId id = 0;
  if (const auto* done = std::get_if<planner::LeaseDone>(&event)) id = done->lease;
  if (const auto* expired = std::get_if<planner::LeaseExpired>(&event)) id = expired->lease;
  if (const auto* refused = std::get_if<planner::DirectiveRefused>(&event)) id = refused->directive;
  if (member.leases.erase(id) == 0) return;
  for (const auto& [session, other] : live.members) {
    if (other.device == member.device && !other.leases.empty()) return;
  }
  if (std::holds_alternative<planner::LeaseExpired>(event)) {
    turns_.Missed(member.device, live.id, loop_.Now());
  } else {
    turns_.YieldAfter(member.device, live.id, ToNanos(options_.device_turn), loop_.Now());
  }
}

bool Tunings::Explores(const Live& live, SessionId session, const Member& member) const {
  if (!member.leases.empty() || !member.parked.empty()) return true;
  if (member.mode != planner::Mode::kTune) return false;
  switch (live.tuning.phase(session)) {
    case planner::Phase::kForecast:
    case planner::Phase::kSearch:
    case planner::Phase::kVerify:
    case planner::Phase::kReplicate:
      return true;
    default:
      return false;
  }
}

// Keeps the turn while any session of the tuning on that device still explores.
void Tunings::GiveUpTurn(const Live& live, const std::string& device) {
  for (const auto& [session, member] : live.members) {
    if (member.device == device && Explores(live, session, member)) return;
  }
  turns_.GiveUp(device, live.id, loop_.Now());
}

void Tunings::Settle(Live& live, planner::Settle request) {
  const TuningId tuning = live.id;
  const uint64_t number = request.request;
  recorder_.Settle(tuning, std::move(request.record),
                   [this, alive = alive_, tuning, number](absl::StatusOr<uint64_t> id) {
                     if (*alive) Settled(tuning, number, std::move(id));
                   });
}

void Tunings::Settled(TuningId tuning, uint64_t request, absl::StatusOr<uint64_t> id) {
  auto it = live_.find(tuning);
  if (id.ok()) {
    log::Info("settlement stored", {{field::kTuning, tuning}, {field::kSettlement, *id}});
  }
  if (it == live_.end()) return;
  if (id.ok()) {
    Apply(*it->second, 0, planner::SettlementStored{request, *id});
    return;
  }
  // What the search learned waits for the disk, and a later job settles it in less time.
  Apply(*it->second, 0,
        planner::SettlementFailed{
            request, absl::StrCat(id.status().message(), ", then run the job once more")});
}

}  // namespace blazed::session
