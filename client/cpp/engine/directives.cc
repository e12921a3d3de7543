// Which directives are followed, and the rules they meet first.
#include <algorithm>
#include <utility>

#include "client/cpp/engine/engine.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {
namespace {

const char* DetailOf(Refusal reason) {
  switch (reason) {
    case Refusal::kNotProven:
      return "the variant has not passed its probes in this process, probe it first";
    case Refusal::kUnknownVariant:
      return "no such variant is built, build it first";
    case Refusal::kMalformed:
      return "the directive contradicts itself or the workload";
    case Refusal::kOverLimit:
      return "the directive passes a limit";
    case Refusal::kNotTuning:
      return "the session's mode forbids it";
    case Refusal::kMemory:
      return "the variant needs more memory than the job allows";
    case Refusal::kRejectedEarlier:
      return "the variant failed a probe in this process";
  }
  return "";
}

}  // namespace

bool Engine::Do(Directive& directive) {
  const auto send = [this](const std::string& body) { Send(OutgoingKind::kAnswer, body); };
  if (const auto* build = std::get_if<Build>(&directive.body)) {
    if (!answers_.Repeat(DirectiveKind::kBuild, build->build_id, send)) DoBuild(*build);
  } else if (const auto* probe = std::get_if<Probe>(&directive.body)) {
    const bool running = probe_id_ == probe->probe_id;
    if (!running && answers_.Repeat(DirectiveKind::kProbe, probe->probe_id, send)) return true;
    return DoProbe(*probe);
  } else if (const auto* pairs = std::get_if<RunPairs>(&directive.body)) {
    if (answers_.Repeat(DirectiveKind::kRunPairs, pairs->lease_id, send)) return true;
    acted_order_ = std::max(acted_order_, directive.order);  // an adoption may have overtaken it
    DoRunPairs(*pairs, directive.received_ns);
  } else if (const auto* adopt = std::get_if<Adopt>(&directive.body)) {
    acted_order_ = directive.order;
    DoAdopt(*adopt);
  } else if (const auto* drop = std::get_if<Drop>(&directive.body)) {
    DropVariant(drop->variant);
  } else if (const auto* want = std::get_if<WantKernels>(&directive.body)) {
    DoWantKernels(*want);
  }
  return true;
}

bool Engine::Frozen(uint64_t now) const {
  if (config_.mode != BLZ_MODE_TUNE_UNTIL) return false;
  if (config_.tune_until_steps != 0 && step_ > config_.tune_until_steps) return true;
  return config_.tune_until_ns != 0 && now - attached_ns_ >= config_.tune_until_ns;
}

bool Engine::MayTry() const {
  const bool tuning = granted_ == BLZ_MODE_TUNE || granted_ == BLZ_MODE_TUNE_UNTIL;
  return tuning && !Frozen(clock_.Now());
}

bool Engine::MayLease(const RunPairs& pairs) const {
  return MayTry() || (pairs.champion == pairs.challenger && RunsAnyway(pairs.champion));
}

uint64_t Engine::LongestStep(uint32_t variant) const {
  if (RunsAnyway(variant) || usual_step_ns_ == 0) return kNever;
  if (usual_step_ns_ > kNever / kTrialFactor) return kNever;
  return std::max(kShortestLimitNs, kTrialFactor * usual_step_ns_);
}

bool Engine::MayBuild() const { return granted_ == BLZ_MODE_PINNED || MayTry(); }

std::optional<Refusal> Engine::WhyNotLive(uint32_t id) {
  if (id == 0) return std::nullopt;
  const Variant* variant = variants_.Find(id);
  if (variant == nullptr) return Refusal::kUnknownVariant;
  if (variant->rejected) return Refusal::kRejectedEarlier;
  if (!variant->ProvenFor(BatchesNeeded())) return Refusal::kNotProven;
  return std::nullopt;
}

uint64_t Engine::HandleOf(uint32_t id) {
  const Variant* variant = id == 0 ? nullptr : variants_.Find(id);
  return variant == nullptr ? 0 : variant->handle;
}

bool Engine::SignatureHolds(Variant& variant) {
  Digest observed{};
  ops_.signature(ops_.user, variant.handle, observed.data());
  if (!variant.ObserveSignature(observed)) return true;
  if (champion_handle_ == variant.handle) {
    FallBack("the plan in use ran under another signature than it was proven with");
  }
  return false;
}

void Engine::DoRunPairs(const RunPairs& pairs, uint64_t received_ns) {
  const LeaseCheck check = CheckSchedule(pairs);
  if (!check.ok) {
    Refuse(DirectiveKind::kRunPairs, pairs.lease_id, pairs.challenger, check.reason, check.detail);
    return;
  }
  const std::optional<Refusal> refusal = WhyNoLease(pairs);
  if (refusal.has_value()) {
    const bool champion_is_it = WhyNotLive(pairs.champion).has_value();
    Refuse(DirectiveKind::kRunPairs, pairs.lease_id,
           champion_is_it ? pairs.champion : pairs.challenger, *refusal, DetailOf(*refusal));
    return;
  }
  lease_.emplace(pairs, received_ns);
  drained_ = false;
}

std::optional<Refusal> Engine::WhyNoLease(const RunPairs& pairs) {
  if (!workload_.has_value()) return Refusal::kMalformed;
  if (stand_reason_ != 0) return Refusal::kNotTuning;
  if (const auto refusal = WhyNotLive(pairs.champion)) return refusal;
  if (const auto refusal = WhyNotLive(pairs.challenger)) return refusal;
  if (!MayLease(pairs)) return Refusal::kNotTuning;
  return std::nullopt;
}

std::optional<Refusal> Engine::WhyNoAdoption(const Adopt& adopt) {
  if (!workload_.has_value()) return Refusal::kMalformed;
  if (adopt.variant == 0) {
    return adopt.plan.empty() ? std::nullopt : std::optional(Refusal::kMalformed);
  }
  if (const auto refusal = WhyNotLive(adopt.variant)) return refusal;
  const Variant* variant = variants_.Find(adopt.variant);
  if (!adopt.plan.empty() && !SamePlan(adopt.plan, variant->plan)) return Refusal::kMalformed;
  if (granted_ == BLZ_MODE_OBSERVE) return Refusal::kNotTuning;
  const bool settled = adopt.settlement != 0 || adopt.reason == kAdoptPinned;
  if (granted_ == BLZ_MODE_PINNED && !settled) return Refusal::kNotTuning;
  if (Frozen(clock_.Now()) && adopt.variant != champion_) return Refusal::kNotTuning;
  return std::nullopt;
}

void Engine::DoAdopt(const Adopt& adopt) {
  if (const auto refusal = WhyNoAdoption(adopt)) {
    Refuse(DirectiveKind::kAdopt, adopt.adopt_id, adopt.variant, *refusal, DetailOf(*refusal));
    return;
  }
  SetChampion(adopt.variant);
  stand_reason_ = 0;
  settled_ = adopt.settled;
  adopted_ = adopt;
  kernels_wanted_ = 0;  // the daemon asks again where it still wants to know
  Send(OutgoingKind::kAnswer, Encode(Adopted{adopt.adopt_id, adopt.variant, step_}));
  Say(BLZ_LOG_INFO, ModeReason());
}

void Engine::SetChampion(uint32_t id) {
  const Variant* variant = id == 0 ? nullptr : variants_.Find(id);
  if (variant != nullptr && variant->id == champion_) return;
  champion_ = variant == nullptr ? 0 : id;
  champion_handle_ = variant == nullptr ? 0 : variant->handle;
  champion_plan_ = variant == nullptr ? Plan{} : variant->plan;
  kernels_wanted_ = 0;
  timer_.Spoil();
  DropOrphan();
}

void Engine::FallBack(const std::string& why) { LeaveChampion(BLZ_LOG_WARNING, why); }

void Engine::LeaveChampion(blz_log_level level, const std::string& why) {
  SetChampion(0);
  settled_ = false;
  adopted_ = {};
  Say(level, why);
}

void Engine::StandDown(uint32_t stand_reason, const std::string& why) {
  if (lease_.has_value()) FinishLease();
  FallBack(why);
  stand_reason_ = stand_reason;
}

}  // namespace blazed::shim
