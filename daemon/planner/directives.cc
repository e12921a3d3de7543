// What is asked of a session. Every directive has an id from the session's one counter.
#include <algorithm>
#include <cmath>

#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr double kAbortFactor = 5;      // times the champion's step
constexpr double kDeadlineFactor = 20;  // times the expected time of a lease
constexpr Nanos kShortestDeadline = std::chrono::seconds(5);
constexpr Nanos kLongestDeadline = std::chrono::minutes(10);

// A late lease is a lost lease, a hung host must not hold the turn: generous, but bounded.
Nanos DeadlineFor(double step_ns, uint64_t steps) {
  if (step_ns <= 0) return std::chrono::minutes(1);
  const double expected = kDeadlineFactor * step_ns * static_cast<double>(steps);
  const double longest = static_cast<double>(kLongestDeadline.count());
  return std::max(kShortestDeadline, Nanos(static_cast<int64_t>(std::min(expected, longest))));
}

}  // namespace

VariantId Tuning::State::IssueBuild(Session& s, const Plan& plan, VariantId rebuild_of) {
  Variant v;
  v.id = s.next_variant++;
  v.plan = plan;
  v.last_used = ++s.clock;
  if (rebuild_of != 0) s.variants.erase(rebuild_of);
  if (s.in_use == rebuild_of) s.in_use = kDefaultVariant;
  s.by_plan[plan] = v.id;
  s.variants[v.id] = v;
  const DirectiveId id = s.next_directive++;
  Outstanding& open = s.open[id];
  open.kind = DirectiveKind::kBuild;
  open.issued = now_;
  open.variant = v.id;
  open.expected_ns = BuildNs(s, plan);
  s.ledger.Open(now_);
  campaign_.ledger.Open(now_);
  Emit(BuildVariant{s.ready.session, id, v.id, plan, rebuild_of});
  return v.id;
}

void Tuning::State::IssueProbe(Session& s, const std::vector<VariantId>& variants,
                               uint32_t batches) {
  const DirectiveId id = s.next_directive++;
  Outstanding& open = s.open[id];
  open.kind = DirectiveKind::kProbe;
  open.issued = now_;
  open.expected_ns = ProbeNs(s, batches);
  for (VariantId variant : variants) {
    open.waiting.insert(variant);
    if (Variant* v = s.Find(variant)) v->stage = VariantStage::kProving;
  }
  Emit(ProbeVariants{s.ready.session, id, variants, batches});
}

void Tuning::State::IssueLease(Session& s, LeasePurpose purpose, VariantId champion,
                               VariantId challenger, uint32_t pairs, bool discard) {
  const DirectiveId id = s.next_directive++;
  RunPairs run;
  run.session = s.ready.session;
  run.lease = id;
  run.champion = champion;
  run.challenger = challenger;
  const UnitShape unit = UnitFor(s, purpose, discard);
  run.warm_steps = unit.warm;
  run.timed_steps = unit.timed;
  for (uint32_t i = 0; i < pairs; ++i) run.challenger_first.push_back(s.coin.Coin());
  run.deadline = DeadlineFor(s.step_ns, 2ull * pairs * unit.steps());
  // A drift check's challenger is the default, which is always allowed to be slow.
  if (champion != challenger && challenger != kDefaultVariant) {
    run.abort_step_ns = static_cast<uint64_t>(std::max(0.0, kAbortFactor * s.step_ns));
  }
  Outstanding& open = s.open[id];
  open.kind = DirectiveKind::kLease;
  open.issued = now_;
  open.purpose = purpose;
  open.lease = {run.challenger_first, unit.timed, unit.warm};
  open.champion = champion;
  open.challenger = challenger;
  open.discard = discard;
  open.deadline = run.deadline;
  open.expected_ns = LeaseNs(s, pairs, champion != challenger, discard);
  const Session* racer = s.race ? &s : Lead();
  if (purpose == LeasePurpose::kRace && racer != nullptr && racer->race) {
    open.race = racer->race->id();
    open.of_kind = racer->race->terms().kind;
  }
  for (VariantId used : {champion, challenger}) {
    if (Variant* v = s.Find(used)) v->last_used = ++s.clock;
  }
  Emit(std::move(run));
}

void Tuning::State::IssueAdopt(Session& s, VariantId variant, AdoptReason reason, bool settled) {
  const DirectiveId id = s.next_directive++;
  Outstanding& open = s.open[id];
  open.kind = DirectiveKind::kAdopt;
  open.issued = now_;
  open.variant = variant;
  Adopt adopt;
  adopt.session = s.ready.session;
  adopt.adopt = id;
  adopt.variant = variant;
  if (const Variant* v = s.Find(variant)) adopt.plan = v->plan;
  adopt.reason = reason;
  adopt.settled = settled;
  if (settled && settlement_ && settlement_->plan == adopt.plan) {
    adopt.settlement = settlement_->id;
    adopt.settlement_kind = settlement_->kind;
  }
  s.in_use = variant;
  s.in_use_adopt = id;
  s.in_use_from.reset();
  Emit(std::move(adopt));
}

void Tuning::State::IssueDrop(Session& s, VariantId variant) {
  const Variant* v = s.Find(variant);
  if (v == nullptr) return;
  const auto it = s.by_plan.find(v->plan);
  if (it != s.by_plan.end() && it->second == variant) s.by_plan.erase(it);
  s.variants.erase(variant);
  Emit(DropVariant{s.ready.session, variant});
}

}  // namespace blazed::planner
