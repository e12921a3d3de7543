// From a plan to a proven variant: build, confirm, verify. No lease and no adopt names a variant
// that has not come through here.
#include <algorithm>

#include "daemon/planner/standing.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr size_t kProbeLimit = 16;
constexpr uint32_t kRejectedWith = 24;

bool IsRejection(Verdict verdict) {
  return verdict == Verdict::kRejectedDifferent || verdict == Verdict::kRejectedBroken ||
         verdict == Verdict::kRejectedMemory || verdict == Verdict::kBuildFailed;
}

}  // namespace

std::optional<VariantId> Tuning::State::Proven(Session& s, const Plan& plan) {
  if (plan.empty()) return kDefaultVariant;
  const auto it = s.by_plan.find(plan);
  if (it == s.by_plan.end()) return std::nullopt;
  const Variant* v = s.Find(it->second);
  if (v == nullptr || v->stage != VariantStage::kProven) return std::nullopt;
  return v->id;
}

// Builds what is missing, then probes what is built, all in as few directives as the limits allow.
bool Tuning::State::Prepare(Session& s, const std::vector<Plan>& plans) {
  if (s.Busy()) return false;
  std::vector<Plan> missing;
  for (const Plan& plan : plans) {
    const bool known = plan.empty() || s.failed.contains(plan) || s.by_plan.contains(plan);
    if (!known) missing.push_back(plan);
  }
  const bool may_build = BuildsLeft(s) > 0;
  size_t together = missing.empty() || !may_build ? 0 : BuildsNow(s, missing.size());
  if (!missing.empty() && may_build && together == 0) return false;
  bool building = false;
  for (const Plan& plan : missing) {
    if (may_build && together == 0) break;
    if (!may_build || !MakeRoom(s)) {
      // Not judged: this process has spent its builds, or holds too many variants.
      s.failed[plan] = Verdict::kProposed;
      continue;
    }
    RecordOf(plan);
    IssueBuild(s, plan, 0);
    building = true;
    --together;
  }
  if (building) return false;
  return !ProbeBuilt(s, plans);
}

// True: it waits for probes, or for the budget that pays for them.
bool Tuning::State::ProbeBuilt(Session& s, const std::vector<Plan>& plans) {
  std::vector<VariantId> built;
  for (const Plan& plan : plans) {
    const auto it = s.by_plan.find(plan);
    if (it == s.by_plan.end() || built.size() == kProbeLimit) continue;
    const Variant* v = s.Find(it->second);
    if (v != nullptr && v->stage == VariantStage::kBuilt) built.push_back(v->id);
  }
  if (built.empty()) return false;
  const bool paid =
      s.role == Role::kServing || AffordsProbe(s, built.size(), config_.probe_batches);
  if (!paid) return true;
  IssueProbe(s, built, config_.probe_batches);
  return true;
}

// Drops the variant that was used longest ago and that nothing under way needs.
bool Tuning::State::MakeRoom(Session& s) {
  if (s.variants.size() < config_.max_live_variants) return true;
  const Variant* oldest = nullptr;
  for (const auto& [id, v] : s.variants) {
    if (id == s.in_use || v.stage == VariantStage::kBuilding || v.stage == VariantStage::kProving) {
      continue;
    }
    if (v.plan == campaign_.champion || (campaign_.contender && v.plan == *campaign_.contender)) {
      continue;
    }
    const auto& batch = campaign_.batch;
    if (std::find(batch.begin(), batch.end(), v.plan) != batch.end()) continue;
    if (oldest == nullptr || v.last_used < oldest->last_used) oldest = &v;
  }
  if (oldest == nullptr) return false;
  IssueDrop(s, oldest->id);
  return true;
}

// Where nothing further is explored, the host's memory is its own again.
void Tuning::State::DropUnused(Session& s) {
  std::vector<VariantId> unused;
  for (const auto& [id, v] : s.variants) {
    if (id != s.in_use) unused.push_back(id);
  }
  for (VariantId id : unused) IssueDrop(s, id);
}

PlanRecord& Tuning::State::RecordOf(const Plan& plan) {
  PlanRecord& record = plans_[plan];
  record.plan = plan;
  return record;
}

void Tuning::State::Judge(const Plan& plan, Verdict verdict, const std::string& reason) {
  PlanRecord& record = RecordOf(plan);
  // A race lost behind its demotion tells nothing new of a plan that may be the faster one again.
  if (record.verdict == Verdict::kDemoted && verdict == Verdict::kLost) verdict = record.verdict;
  record.verdict = verdict;
  record.reason = reason.empty() ? StandingOf(record) : reason;
  Emit(KeepPlan{record});
}

// A plan came further without a verdict on it.
void Tuning::State::NoteStanding(const Plan& plan) {
  PlanRecord& record = RecordOf(plan);
  if (std::string standing = StandingOf(record); !standing.empty()) {
    record.reason = std::move(standing);
  }
  Emit(KeepPlan{record});
}

void Tuning::State::FailVariant(Session& s, VariantId id, Verdict verdict,
                                const std::string& reason) {
  const Variant* v = s.Find(id);
  if (v == nullptr) return;
  if (s.role == Role::kWaiting) return FailForHelp(s, *v, reason);
  // What is served elsewhere as well is not judged by one host that could not tell.
  if (AtRest(s) && s.in_use == id && !IsWrong(verdict)) return HostStoodDown(s, verdict, reason);
  const Plan plan = v->plan;
  Judge(plan, verdict, reason);
  if (verdict != Verdict::kNotHonoured && verdict != Verdict::kDuplicate) campaign_.broken = true;
  s.failed[plan] = verdict;
  if (s.in_use == id) IssueAdopt(s, kDefaultVariant, AdoptReason::kDemoted, false);
  IssueDrop(s, id);
  if (verdict == Verdict::kProposed) return;
  search_.NoteTried(plan);  // else a group of changes that fails would be named again and again
  Blame(plan, verdict);
  if (IsWrong(verdict) && GoesOn(s) && plan == InForce()) DemoteSettled(reason, verdict);
}

// A failed plan is not proposed again. Which of its choices is at fault is known where it has just
// one; else the choices are tried alone.
void Tuning::State::Blame(const Plan& plan, Verdict verdict) {
  search_.GiveUp(plan);
  if (!IsRejection(verdict) || plan.empty()) return;
  const Toggles on = space_.Encode(plan);
  for (size_t t = 0; t < on.size(); ++t) {
    if (!on[t] || search_.Banned(t)) continue;
    const Plan alone = {{space_.toggle(t).decision, space_.toggle(t).option}};
    if (plan.size() == 1) {
      search_.Ban(t);
    } else if (!plans_.contains(alone) || plans_[alone].verdict == Verdict::kProposed) {
      auto& suspects = campaign_.suspects;
      if (std::find(suspects.begin(), suspects.end(), alone) == suspects.end()) {
        suspects.push_back(alone);
      }
    }
  }
}

// A change may pass its probes alone, or at the training's beginning, and fail them with others or
// later on; and the search, which knows only times, would go on naming it. So where the plans with
// a change are rejected again and again, and more often than those with any other, it is closed.
void Tuning::State::CountAgainst(const Plan& plan, bool passed, Verdict verdict) {
  if (!passed && !IsRejection(verdict)) return;
  const Toggles on = space_.Encode(plan), champion = space_.Encode(campaign_.champion);
  auto& counts = campaign_.rejected_with;
  size_t worst = on.size();
  for (size_t t = 0; t < on.size(); ++t) {
    if (!on[t] || champion[t]) continue;
    if (passed) {
      counts.erase(t);
    } else if (++counts[t] >= kRejectedWith && (worst == on.size() || counts[t] > counts[worst])) {
      worst = t;
    }
  }
  if (worst == on.size()) return;
  search_.Ban(worst);
  counts.clear();
}

}  // namespace blazed::planner
