// Answers of a session. Each is matched to its open directive; repeats, unknown ids and answers of
// another kind change nothing. What a client says about time or numbers is checked before it
// counts.
#include <algorithm>
#include <utility>

#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr uint32_t kExpiredLimit = 3;  // leases in a row; then the session is left alone
constexpr uint32_t kProbeTries = 2;
constexpr Digest kNoDigest{};

// The host builds and tries nothing more; that says nothing about the plan it was asked for.
bool EndsTrials(Refusal reason) {
  return reason == Refusal::kNotTuning || reason == Refusal::kOverLimit;
}

Verdict VerdictOf(Refusal reason) {
  switch (reason) {
    case Refusal::kMemory:
      return Verdict::kRejectedMemory;
    case Refusal::kRejectedEarlier:
      return Verdict::kRejectedDifferent;
    default:
      return Verdict::kInconclusive;
  }
}

}  // namespace

Session* Tuning::State::FindSession(SessionId id) {
  const auto it = sessions_.find(id);
  return it == sessions_.end() ? nullptr : &it->second;
}

Outstanding* Tuning::State::FindOpen(Session& s, DirectiveId id, DirectiveKind kind) {
  const auto it = s.open.find(id);
  return it == s.open.end() || it->second.kind != kind ? nullptr : &it->second;
}

void Tuning::State::NoteStep(Session& s, uint64_t step) {
  if (!s.first_step) s.first_step = step;
  s.latest_step = std::max(s.latest_step, step);
}

void Tuning::State::On(const VariantBuilt& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr) return;
  Outstanding* open = FindOpen(*s, event.build, DirectiveKind::kBuild);
  if (open == nullptr || open->variant != event.variant) return;
  s->open.erase(event.build);
  Variant* v = s->Find(event.variant);
  if (v == nullptr) return;
  const bool as_usual = !GuessedBuildNs(*s, v->plan);
  s->ledger.AddBuild(event.build_ns, as_usual);
  Charge(*s, static_cast<double>(std::min(event.build_ns, kLongestUnitNs)));
  campaign_.ledger.AddBuild(event.build_ns, as_usual);
  JudgeBuild(*s, *v, event);
  Advance(*s);
}

void Tuning::State::JudgeBuild(Session& s, Variant& v, const VariantBuilt& event) {
  v.build_ns = event.build_ns;
  v.peak_bytes = event.peak_bytes;
  v.signature = event.signature;
  PlanRecord& record = RecordOf(v.plan);
  record.build_ns = event.build_ns;
  record.peak_bytes = event.peak_bytes;
  if (event.status == BuildStatus::kFailed) {
    return FailVariant(s, v.id, Verdict::kBuildFailed,
                       event.reason.empty() ? "the host could not build it" : event.reason);
  }
  if (event.status == BuildStatus::kMemory ||
      !FitsMemory(event.peak_bytes, s.ready.default_peak_bytes, s.ready.extra_memory_bytes)) {
    // Without a figure it ran out of what there is, which only the host can tell of.
    const bool untold = event.peak_bytes == 0 && !event.reason.empty();
    return FailVariant(s, v.id, Verdict::kRejectedMemory,
                       untold ? event.reason
                              : "needs " + std::to_string(event.peak_bytes) +
                                    " bytes of peak memory, more than the job allows");
  }
  if (event.signature == kNoDigest) {
    return FailVariant(s, v.id, Verdict::kInconclusive, "the host named no signature of its run");
  }
  if (s.role != Role::kWaiting) record.signature = event.signature;
  v.stage = VariantStage::kBuilt;
  ConfirmBuild(s, v);
}

// A stored plan is compared with its settlement instead; a rebuilt one with itself.
void Tuning::State::ConfirmBuild(Session& s, Variant& v) {
  if (s.role == Role::kWaiting) {
    if (!SameAsLead(s, v.plan)) {
      FailVariant(s, v.id, Verdict::kProposed, "the plan runs as something else here");
    }
    return;
  }
  if (s.role == Role::kServing || v.id == s.rebuilding) {
    if (v.signature == s.ready.default_signature) {
      FailVariant(s, v.id, Verdict::kNotHonoured, "runs the same as the default plan");
    }
    return;
  }
  const Plan plan = v.plan;
  if (IsSham(s, v)) return;
  const Confirmation answer = table_.Confirm(plan, v.signature);
  if (answer.finding == Finding::kDistinct) {
    NoteStanding(plan);
    // A scout has told what it was built for; the host's memory is worth more than its second
    // build, unless builds turned out to be dear.
    if (campaign_.stage == Stage::kScout && ScoutsPay(s)) IssueDrop(s, v.id);
    return;
  }
  search_.LearnEqual(plan, answer.twin);
  if (answer.finding == Finding::kNotHonoured) {
    FailVariant(s, v.id, Verdict::kNotHonoured, "runs the same as the default plan");
  } else {
    FailVariant(s, v.id, Verdict::kDuplicate, "runs the same as " + space_.Text(answer.twin));
  }
  for (size_t t = 0; t < space_.size(); ++t) {
    if (table_.NoOp(t)) search_.Ban(t);
  }
}

void Tuning::State::On(const ProbeDone& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr) return;
  Outstanding* open = FindOpen(*s, event.probe, DirectiveKind::kProbe);
  if (open == nullptr || open->waiting.erase(event.variant) == 0) return;
  if (open->waiting.empty()) s->open.erase(event.probe);
  Variant* v = s->Find(event.variant);
  if (v == nullptr) return;
  s->ledger.AddProbe(event.probe_ns);
  Charge(*s, static_cast<double>(std::min(event.probe_ns, kLongestUnitNs)));
  campaign_.ledger.AddProbe(event.probe_ns);
  const Plan plan = v->plan;
  const bool helps = s->role == Role::kWaiting;  // then the plan's own row is the exploring job's
  PlanRecord& record = RecordOf(plan);
  if (!helps) {
    record.has_comparison = true;
    record.comparison = event.summary;
  }
  Emit(KeepProbe{event.session, plan, event.summary, event.probe_ns});
  const uint32_t needed = s->burst ? 1 : config_.probe_batches;
  GateAnswer answer = JudgeProbe(contract_, event.summary, event.passed_batches, needed);
  if (answer.faulted && !helps) answer = AfterFault(*s, plan, std::move(answer));
  if (!helps) campaign_.rejected_in_row = answer.passed ? 0 : campaign_.rejected_in_row + 1;
  if (!helps) CountAgainst(plan, answer.passed, answer.verdict);
  if (answer.passed) {
    v->stage = VariantStage::kProven;
    v->probe_tries = 0;
    if (!helps) faults_.erase(plan);  // those were of other moments
    if (record.verdict == Verdict::kProposed) Judge(plan, Verdict::kProven, {});
  } else if (answer.faulted && !helps && TryAgainAfterFault(*s, *v, answer)) {
    // Its plan is one that was never built, and whoever wants it builds it.
  } else if (!answer.faulted && answer.verdict == Verdict::kInconclusive &&
             ++v->probe_tries < kProbeTries) {
    v->stage = VariantStage::kBuilt;  // asked once more
  } else {
    FailVariant(*s, event.variant, answer.verdict, answer.reason);
  }
  Advance(*s);
}

void Tuning::State::On(const LeaseDone& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr) return;
  const Outstanding* found = FindOpen(*s, event.lease, DirectiveKind::kLease);
  if (found == nullptr) return;
  const Outstanding lease = *found;
  s->open.erase(event.lease);
  std::string why;
  auto pairs = ReadLease(lease.lease, event, &why);
  if (!pairs || pairs->empty()) {
    s->budget.Spend(lease.expected_ns);
    LeaseFailed(*s, pairs ? "a lease brought no pair" : why);
  } else {
    s->expired_in_row = 0;
    s->exclusion.Apply(*pairs);
    const UnitShape unit{lease.lease.warm_steps, lease.lease.timed_steps};
    NoteStep(*s, event.first_step + event.units.size() * unit.steps());
    const bool other_units = SeeQueue(*s, lease, event, *pairs);
    TakePairs(*s, lease, *pairs);
    const uint64_t drains = s->drain_cost.Charge(unit, event.units.size(), event.drain_ns,
                                                 lease.purpose == LeasePurpose::kNoise, s->step_ns);
    s->ledger.AddDrain(drains);
    s->budget.Spend(static_cast<double>(drains));
    s->drain_unit_ns = drains / event.units.size();
    campaign_.ledger.AddDrain(drains);
    if (other_units) UnitsChanged(*s);
  }
  Advance(*s);
}

void Tuning::State::On(const LeaseExpired& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr) return;
  const Outstanding* open = FindOpen(*s, event.lease, DirectiveKind::kLease);
  if (open == nullptr) return;
  s->budget.Spend(open->expected_ns);
  s->open.erase(event.lease);
  LeaseFailed(*s, "leases run out without an answer");
  Advance(*s);
}

// Nothing of a failed lease counts; the flow asks again until the session has shown that it will
// not answer.
void Tuning::State::LeaseFailed(Session& s, const std::string& why) {
  if (++s.expired_in_row < kExpiredLimit) return;
  s.expired_in_row = 0;
  if (s.role == Role::kWaiting) {
    s.silent = true;
    return SitOut(s, why);
  }
  if (s.burst) return EndBurst(s, RaceOutcome::kUndecided, why);
  if (s.returning) return EndReturn(s, RaceOutcome::kUndecided, why);
  if (s.role == Role::kServing) return ServeMissed(s, why);
  if (s.role != Role::kExploring) return;
  EndUndecided(s, why);
  // A job that was starved for a minute, or held up, answers later.
  if (s.role == Role::kFrozen) WaitToGoOn(s);
}

void Tuning::State::On(const DirectiveRefused& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr) return;
  const std::string why = event.detail.empty() ? "the host refused it" : event.detail;
  const auto it = s->open.find(event.directive);
  if (it == s->open.end()) {
    // An adopted plan that the host runs no longer.
    const bool in_use = event.directive == s->in_use_adopt && event.variant == s->in_use;
    if (in_use) HostStoodDown(*s, VerdictOf(event.reason), why);
    return;
  }
  const Outstanding directive = it->second;
  s->open.erase(it);
  if (EndsTrials(event.reason)) {
    TrialsEnd(*s, directive, why);
  } else {
    Refused(*s, directive, event, why);
  }
  Advance(*s);
}

void Tuning::State::TrialsEnd(Session& s, const Outstanding& directive, const std::string& why) {
  s.trials_ended = true;
  if (s.burst) {
    // No check is no verdict: the plan in use stays what it was.
    for (VariantId id : directive.waiting) {
      if (Variant* v = s.Find(id)) v->stage = VariantStage::kProven;
    }
    return EndBurst(s, RaceOutcome::kUndecided, why);
  }
  if (s.returning) return EndReturn(s, RaceOutcome::kUndecided, why);
  if (directive.kind == DirectiveKind::kBuild)
    FailVariant(s, directive.variant, Verdict::kProposed, why);
  for (VariantId id : directive.waiting) FailVariant(s, id, Verdict::kProposed, why);
  if (directive.kind == DirectiveKind::kAdopt && AtRest(s) && s.in_use == directive.variant) {
    return HostStoodDown(s, Verdict::kInconclusive, why);
  }
  if (s.role == Role::kServing) return ServeMissed(s, why);
  if (s.role == Role::kExploring && campaign_.stage != Stage::kSettling) EndUndecided(s, why);
}

void Tuning::State::Refused(Session& s, const Outstanding& directive, const DirectiveRefused& event,
                            const std::string& why) {
  const Verdict verdict = VerdictOf(event.reason);
  switch (directive.kind) {
    case DirectiveKind::kBuild:
      return FailVariant(s, directive.variant, verdict, why);
    case DirectiveKind::kProbe:
      for (VariantId id : directive.waiting) FailVariant(s, id, verdict, why);
      return;
    case DirectiveKind::kLease: {
      const bool changed = event.reason == Refusal::kNotProven && event.variant == s.in_use;
      if (changed && AtRest(s)) return HostStoodDown(s, verdict, why);
      const bool named = event.variant != kDefaultVariant && s.Find(event.variant) != nullptr;
      FailVariant(s, named ? event.variant : directive.challenger, verdict, why);
      return LeaseFailed(s, why);
    }
    case DirectiveKind::kAdopt:
      if (s.in_use == directive.variant && AtRest(s)) return HostStoodDown(s, verdict, why);
      if (s.in_use == directive.variant) s.in_use = kDefaultVariant;
      return FailVariant(s, directive.variant, verdict, why);
  }
}

void Tuning::State::On(const DirectiveHeld& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr) return;
  const auto open = s->open.find(event.directive);
  if (open != s->open.end()) open->second.held = true;
}

// The host has all of its time from here on.
void Tuning::State::On(const DirectiveSent& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr) return;
  const auto open = s->open.find(event.directive);
  if (open == s->open.end() || !std::exchange(open->second.held, false)) return;
  open->second.issued = now_;
}

void Tuning::State::On(const VariantAdopted& event) {
  Session* s = FindSession(event.session);
  if (s == nullptr || FindOpen(*s, event.adopt, DirectiveKind::kAdopt) == nullptr) return;
  s->open.erase(event.adopt);
  if (s->in_use_adopt == event.adopt) s->in_use_from = event.from_step;
  NoteStep(*s, event.from_step);
}

}  // namespace blazed::planner
