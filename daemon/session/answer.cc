// Answers of a shim, matched to what was asked. One that comes twice changes nothing; one to
// something never asked is refused; one that cannot be a measurement voids its lease.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/log.h"
#include "daemon/session/directive.h"
#include "daemon/session/session_table.h"

namespace blazed::session {

namespace field = log::field;

namespace {

// A step this long is no step. The bound only has to be beyond every real one.
constexpr uint64_t kLongestStepNs = 3'600'000'000'000;

// Empty where the units can be what a lease measured, else what is wrong with them.
std::string FaultOf(const planner::LeaseDone& done, const planner::RunPairs& lease) {
  const size_t asked = 2 * lease.challenger_first.size();
  if (done.units.size() > asked) {
    return absl::StrCat("lease ", done.lease, " has ", asked, " units and ", done.units.size(),
                        " were reported; report each unit once");
  }
  if (done.complete && done.units.size() != asked) {
    return absl::StrCat("lease ", done.lease, " was reported complete with ", done.units.size(),
                        " of ", asked, " units; report the rest or leave complete at 0");
  }
  for (size_t i = 0; i < done.units.size(); ++i) {
    const planner::UnitTime& unit = done.units[i];
    const bool aborted = (unit.flags & planner::kUnitAborted) != 0;
    const uint64_t longest = kLongestStepNs * std::max<uint32_t>(lease.timed_steps, 1);
    if ((unit.host_ns == 0 && !aborted) || unit.host_ns > longest || unit.device_ns > longest) {
      return absl::StrCat("unit ", i, " of lease ", done.lease, " reports ", unit.host_ns,
                          " ns on the host and ", unit.device_ns, " ns on the device over ",
                          lease.timed_steps,
                          " steps, which is no time of a step; the lease is void");
    }
  }
  return "";
}

}  // namespace

// The open directive of this kind, or null: refused where it was never asked, silent where it is
// answered.
template <typename Directive>
const Directive* SessionTable::FindUnanswered(Session& session, uint64_t sequence,
                                              planner::DirectiveId id) {
  auto it = session.unanswered.find(id);
  if (it == session.unanswered.end()) {
    if (id == 0 || id > session.highest_directive) {
      Refuse(session, sequence,
             absl::StrCat("nothing was asked under id ", id, "; answer with the directive's id"));
    }
    return nullptr;
  }
  const auto* directive = std::get_if<Directive>(&it->second.message);
  if (directive == nullptr) {
    Refuse(session, sequence,
           absl::StrCat("id ", id, " is another kind of directive; answer it in its own kind"));
  }
  return directive;
}

void SessionTable::Settle(Session& session, planner::DirectiveId id) {
  Forget(session, id);
  session.drops.erase(session.drops.begin(), session.drops.lower_bound(id));
}

void SessionTable::Forget(Session& session, planner::DirectiveId id) {
  auto it = session.unanswered.find(id);
  if (it == session.unanswered.end()) return;
  loop_.Cancel(it->second.deadline);
  session.unanswered.erase(it);
}

void SessionTable::Feed(Session& session, planner::EventBody event) {
  tunings_.Feed(session.row.tuning, session.id, std::move(event));
  if (drained_ && !tunings_.HasLeases()) FinishDrain();
}

absl::Status SessionTable::Answer(Session& session, uint64_t sequence,
                                  planner::VariantBuilt event) {
  const auto* build = FindUnanswered<planner::BuildVariant>(session, sequence, event.build);
  if (build == nullptr) return absl::OkStatus();
  if (build->variant != event.variant) {
    Refuse(session, sequence,
           absl::StrCat("build ", event.build, " is of variant ", build->variant, ", not ",
                        event.variant, "; answer with the variant asked for"));
    return absl::OkStatus();
  }
  event.session = session.id;
  const bool built = event.status == planner::BuildStatus::kOk;
  recorder_.KeepVariant(session.row.tuning,
                        BuiltVariant{session.id, event.variant, build->plan, event.signature,
                                     event.build_ns, event.peak_bytes,
                                     built                  ? ""
                                     : event.reason.empty() ? "the host gave no reason"
                                                            : event.reason});
  Settle(session, event.build);
  Feed(session, std::move(event));
  return absl::OkStatus();
}

absl::Status SessionTable::Answer(Session& session, uint64_t sequence, planner::ProbeDone event) {
  const auto* probe = FindUnanswered<planner::ProbeVariants>(session, sequence, event.probe);
  if (probe == nullptr) return absl::OkStatus();
  Unanswered& unanswered = session.unanswered[event.probe];
  if (unanswered.waiting.erase(event.variant) == 0) {
    // Either a repeat or a variant that this probe did not name.
    const auto& asked = probe->variants;
    if (std::find(asked.begin(), asked.end(), event.variant) == asked.end()) {
      Refuse(session, sequence,
             absl::StrCat("probe ", event.probe, " does not name variant ", event.variant,
                          "; answer for the variants asked for"));
    }
    return absl::OkStatus();
  }
  event.session = session.id;
  if (unanswered.waiting.empty()) Settle(session, event.probe);
  Feed(session, std::move(event));
  return absl::OkStatus();
}

absl::Status SessionTable::Answer(Session& session, uint64_t sequence, planner::LeaseDone event) {
  const auto* lease = FindUnanswered<planner::RunPairs>(session, sequence, event.lease);
  if (lease == nullptr) {
    tunings_.Heard(session.row.tuning);  // too late for the lease, and a sign of life
    return absl::OkStatus();
  }
  event.session = session.id;
  if (const std::string fault = FaultOf(event, *lease); !fault.empty()) {
    log::Warning("measurement refused", {{field::kSession, session.id}, {field::kReason, fault}});
    Refuse(session, sequence, fault);
    Settle(session, event.lease);
    Feed(session, planner::LeaseExpired{session.id, event.lease});
    return absl::OkStatus();
  }
  const auto& events = session.unanswered[event.lease].events;
  const uint32_t flags = events ? events() : 0;
  for (planner::UnitTime& unit : event.units) unit.flags |= flags;
  Settle(session, event.lease);
  Feed(session, std::move(event));
  return absl::OkStatus();
}

absl::Status SessionTable::Answer(Session& session, uint64_t sequence,
                                  planner::DirectiveRefused event) {
  auto it = session.unanswered.find(event.directive);
  if (it == session.unanswered.end()) {
    if (event.directive == 0 || event.directive > session.highest_directive) {
      Refuse(session, sequence,
             absl::StrCat("nothing was asked under id ", event.directive,
                          "; refuse with the directive's id"));
    } else {
      TakeBack(session, std::move(event));
    }
    return absl::OkStatus();
  }
  Unanswered& unanswered = it->second;
  if (event.variant != planner::kDefaultVariant && !Names(unanswered.message, event.variant)) {
    Refuse(session, sequence,
           absl::StrCat("directive ", event.directive, " does not name variant ", event.variant,
                        "; refuse with a variant it names, or with 0 for all of it"));
    return absl::OkStatus();
  }
  if (event.variant == planner::kDefaultVariant) {
    unanswered.waiting.clear();
  } else if (std::holds_alternative<planner::ProbeVariants>(unanswered.message) &&
             unanswered.waiting.erase(event.variant) == 0) {
    return absl::OkStatus();  // a repeat
  }
  log::Info("directive refused by the shim", {{field::kSession, session.id},
                                              {field::kDirective, event.directive},
                                              {field::kReason, event.detail}});
  event.session = session.id;
  if (unanswered.waiting.empty()) Settle(session, event.directive);
  Feed(session, std::move(event));
  return absl::OkStatus();
}

// A refusal of what was answered is a repeat, unless it is of the plan in use: the host has the
// last word and runs that no longer.
void SessionTable::TakeBack(Session& session, planner::DirectiveRefused event) {
  const std::optional<planner::VariantAdopted>& adopted = session.adopted;
  if (!adopted || adopted->adopt != event.directive) return;
  if (event.variant != planner::kDefaultVariant && event.variant != adopted->variant) return;
  log::Info("the shim runs an adopted plan no longer", {{field::kSession, session.id},
                                                        {field::kDirective, event.directive},
                                                        {field::kReason, event.detail}});
  event.session = session.id;
  event.variant = adopted->variant;
  session.adopted.reset();
  Feed(session, std::move(event));
}

absl::Status SessionTable::Answer(Session& session, uint64_t sequence,
                                  planner::ServiceWindow event) {
  if (session.stage != Stage::kDescribed) {
    Refuse(session, sequence, "describe the workload before its service; send WorkloadSeen first");
    return absl::OkStatus();
  }
  if (event.steps == 0 || event.host_ns == 0 || event.host_ns / event.steps > kLongestStepNs) {
    Refuse(session, sequence,
           absl::StrCat(event.host_ns, " ns over ", event.steps,
                        " steps is no time of a step; the window is left out"));
    return absl::OkStatus();
  }
  if (!windows_.Take(session.peer.uid, options_.windows_per_second, loop_.Now())) {
    NoteWindowLeftOut(session);
    return absl::OkStatus();
  }
  event.session = session.id;
  Feed(session, std::move(event));
  return absl::OkStatus();
}

// No answer: a shim that sends too many would only get as many back.
void SessionTable::NoteWindowLeftOut(const Session& session) {
  ++windows_left_out_;
  if ((windows_left_out_ & (windows_left_out_ - 1)) != 0) return;  // a flood is thousands in a row
  log::Warning("service windows above limits.windows_per_second were left out",
               {{field::kSession, session.id},
                {field::kUid, session.peer.uid},
                {field::kCount, windows_left_out_}});
}

absl::Status SessionTable::Answer(Session& session, uint64_t sequence,
                                  planner::VariantAdopted event) {
  const auto* adopt = FindUnanswered<planner::Adopt>(session, sequence, event.adopt);
  if (adopt == nullptr) return absl::OkStatus();
  if (adopt->variant != event.variant) {
    Refuse(session, sequence,
           absl::StrCat("adopt ", event.adopt, " is of variant ", adopt->variant, ", not ",
                        event.variant, "; answer with the variant asked for"));
    return absl::OkStatus();
  }
  event.session = session.id;
  session.adopted = event;
  WantKernels(session, *adopt);
  Settle(session, event.adopt);
  Feed(session, std::move(event));
  return absl::OkStatus();
}

}  // namespace blazed::session
