// Builds and drops of variants.
#include <utility>

#include "client/cpp/base/text.h"
#include "client/cpp/engine/engine.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {
namespace {

constexpr size_t kMaxReason = 256;

VariantBuilt NotBuilt(const Build& build, BuildStatus status, std::string reason) {
  VariantBuilt built;
  built.build_id = build.build_id;
  built.variant = build.variant;
  built.status = status;
  built.reason = std::move(reason);
  return built;
}

}  // namespace

bool Engine::CheckBuild(const Build& build) {
  const auto refuse = [&](Refusal reason, const char* detail) {
    Refuse(DirectiveKind::kBuild, build.build_id, build.variant, reason, detail);
    return false;
  };
  if (!workload_.has_value()) {
    return refuse(Refusal::kMalformed, "no workload was described, so there is nothing to build");
  }
  if (!MayBuild()) return refuse(Refusal::kNotTuning, "the session's mode forbids builds");
  if (build.variant == 0 || build.variant > kMaxVariantId) {
    return refuse(Refusal::kMalformed, "a variant's id is between 1 and 2^31");
  }
  if (variants_.Find(build.variant) != nullptr) {
    return refuse(Refusal::kMalformed, "the variant's id is in use, name an unused one");
  }
  if (!PlanFits(build.plan, workload_->decisions)) {
    return refuse(Refusal::kMalformed, "the plan does not fit the workload's decisions");
  }
  if (variants_.full() && variants_.Find(build.rebuild_of) == nullptr) {
    return refuse(Refusal::kOverLimit, "64 variants are live, drop one first");
  }
  if (build_ns_ + probe_ns_ >= config_.total_budget_ns) {
    return refuse(Refusal::kOverLimit, "builds and probes have used up what the job allows");
  }
  return true;
}

void Engine::DoBuild(const Build& build) {
  if (!CheckBuild(build)) return;
  // Torn down before it is built afresh: the two never share what the first one warmed up.
  if (build.rebuild_of != 0) TearDown(build.rebuild_of);
  if (build.rebuild_of == 0 && ReuseOrphan(build)) return;
  const VariantBuilt built = BuildVariant(build);
  Answer(DirectiveKind::kBuild, build.build_id, Encode(built));
  if (built.status != BuildStatus::kOk) {
    Say(BLZ_LOG_WARNING, "a variant was not built: " + built.reason);
  }
}

// A fresh session of the daemon asks for the plan that is in use: it is there, with its proof.
bool Engine::ReuseOrphan(const Build& build) {
  if (!orphan_.has_value() || !SamePlan(orphan_->plan, build.plan)) return false;
  Variant variant = std::move(*orphan_);
  orphan_.reset();
  variant.id = build.variant;
  champion_ = build.variant;
  VariantBuilt built;
  built.build_id = build.build_id;
  built.variant = build.variant;
  built.signature = variant.signature;
  built.build_ns = variant.build_ns;
  built.peak_bytes = variant.peak_bytes;
  variants_.Add(std::move(variant));
  Answer(DirectiveKind::kBuild, build.build_id, Encode(built));
  return true;
}

VariantBuilt Engine::BuildVariant(const Build& build) {
  blz_built out{};
  out.struct_size = sizeof out;
  const uint64_t start = clock_.Now();
  const int result = ops_.build(ops_.user, build.plan.data(), build.plan.size(), &out);
  const uint64_t spent = clock_.Now() - start;
  build_ns_ += spent;
  out.message[sizeof out.message - 1] = '\0';
  const std::string message = Printable(out.message, kMaxReason);
  if (result == BLZ_BUILD_MEMORY) {
    return NotBuilt(build, BuildStatus::kMemory, message.empty() ? "it did not fit" : message);
  }
  if (result != BLZ_BUILD_OK) {
    return NotBuilt(build, BuildStatus::kFailed,
                    message.empty() ? "the host gave no reason" : message);
  }
  if (out.handle == 0 || variants_.HoldsHandle(out.handle) ||
      (orphan_.has_value() && orphan_->handle == out.handle)) {
    return NotBuilt(build, BuildStatus::kFailed, "the host returned a handle that is in use");
  }
  return AcceptBuilt(build, out, out.build_ns != 0 ? out.build_ns : spent);
}

VariantBuilt Engine::AcceptBuilt(const Build& build, const blz_built& out, uint64_t build_ns) {
  Digest signature = DigestFrom(out.signature);
  if (IsZero(signature) && !LearnSignature(out.handle, signature)) {
    DropHandle(out.handle);
    return NotBuilt(build, BuildStatus::kFailed, "the host named no signature of what ran");
  }
  const uint64_t allowed = SaturatingAdd(workload_->default_peak_bytes, config_.extra_memory_bytes);
  if (workload_->default_peak_bytes != 0 && out.peak_bytes > allowed) {
    DropHandle(out.handle);
    VariantBuilt refused = NotBuilt(build, BuildStatus::kMemory,
                                    "its peak memory is above the default's and what the job adds");
    refused.peak_bytes = out.peak_bytes;
    refused.build_ns = build_ns;
    return refused;
  }
  Variant variant;
  variant.id = build.variant;
  variant.plan = build.plan;
  variant.handle = out.handle;
  variant.signature = signature;
  variant.build_ns = build_ns;
  variant.peak_bytes = out.peak_bytes;
  variants_.Add(std::move(variant));
  ++built_;
  VariantBuilt built;
  built.build_id = build.build_id;
  built.variant = build.variant;
  built.signature = signature;
  built.build_ns = build_ns;
  built.peak_bytes = out.peak_bytes;
  return built;
}

bool Engine::LearnSignature(uint64_t handle, Digest& signature) {
  const uint64_t start = clock_.Now();
  const bool ran = prober_.RunUnwatched(handle);
  probe_ns_ += clock_.Now() - start;
  if (!ran) return false;
  ops_.signature(ops_.user, handle, signature.data());
  return !IsZero(signature);
}

// A check of the plan in use, and no trouble: nothing is said that would outlive it.
void Engine::TearDown(uint32_t id) {
  if (champion_ == id) LeaveChampion(BLZ_LOG_INFO, ModeReason());
  DropVariant(id);
}

void Engine::DropVariant(uint32_t id) {
  if (id == 0) return;
  if (champion_ == id) FallBack("the daemon dropped the plan in use");
  Variant taken;
  if (variants_.Take(id, taken)) DropHandle(taken.handle);
}

void Engine::DropHandle(uint64_t handle) { ops_.drop(ops_.user, handle); }

void Engine::DropOrphan() {
  if (!orphan_.has_value()) return;
  const uint64_t handle = orphan_->handle;
  orphan_.reset();
  DropHandle(handle);
}

}  // namespace blazed::shim
