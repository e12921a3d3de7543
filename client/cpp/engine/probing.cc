// Probes: each live batch gives every variant under probe at most one pass. A probe goes on until
// the variant is proven for this session, also where the daemon asked for fewer batches: it does
// not know what the job asks for, and a variant short of its proof could never run.
#include <algorithm>
#include <utility>

#include "client/cpp/engine/engine.h"
#include "client/cpp/engine/workload.h"
#include "client/cpp/wire/codec.h"

namespace blazed::shim {

using equivalence::Verdict;

bool Engine::DoProbe(const Probe& probe) {
  if (probe_id_ != probe.probe_id) StartProbe(probe);
  const bool done = RunProbePoint();
  if (done) {
    probe_id_.reset();
    probe_items_.clear();
  }
  return done;
}

void Engine::StartProbe(const Probe& probe) {
  probe_id_ = probe.probe_id;
  probe_items_.clear();
  const auto refuse = [&](uint32_t variant, Refusal reason, const char* detail) {
    Refuse(DirectiveKind::kProbe, probe.probe_id, variant, reason, detail);
  };
  if (probe.batches == 0 || probe.batches > kMaxProbeBatches || probe.variants.empty()) {
    refuse(0, Refusal::kMalformed, "a probe names 1 to 16 variants and 1 to 16 batches");
    return;
  }
  if (!workload_.has_value() || !MayBuild()) {
    refuse(0, Refusal::kNotTuning, "the session's mode forbids probes");
    return;
  }
  if (build_ns_ + probe_ns_ >= config_.total_budget_ns) {
    refuse(0, Refusal::kOverLimit, "builds and probes have used up what the job allows");
    return;
  }
  for (const uint32_t id : probe.variants) {
    const Variant* variant = variants_.Find(id);
    const bool twice = std::any_of(probe_items_.begin(), probe_items_.end(),
                                   [&](const ProbeItem& item) { return item.variant == id; });
    if (twice) continue;
    if (id == 0) {
      refuse(id, Refusal::kMalformed, "the default plan is what variants are compared with");
    } else if (variant == nullptr) {
      refuse(id, Refusal::kUnknownVariant, "no such variant is built, build it first");
    } else if (variant->rejected) {
      refuse(id, Refusal::kRejectedEarlier, "the variant failed a probe in this process");
    } else {
      ProbeItem item;
      item.variant = id;
      const uint32_t needed = BatchesNeeded();
      const uint32_t missing = needed > variant->passed ? needed - variant->passed : 0;
      item.batches_left = std::max(probe.batches, missing);
      probe_items_.push_back(std::move(item));
    }
  }
}

// True: every variant has its answer.
bool Engine::RunProbePoint() {
  bool any = false;
  for (ProbeItem& item : probe_items_) {
    if (item.batches_left == 0) continue;
    Variant& variant = *variants_.Find(item.variant);
    if (variant.probed_step == step_) continue;
    if (any && !BudgetLeft()) return false;
    any = true;
    CheckOnce(item, variant);
    if (item.batches_left == 0) AnswerProbe(item);
  }
  return std::all_of(probe_items_.begin(), probe_items_.end(),
                     [](const ProbeItem& item) { return item.batches_left == 0; });
}

void Engine::CheckOnce(ProbeItem& item, Variant& variant) {
  variant.probed_step = step_;
  Prober::Outcome outcome = prober_.Check(variant.handle);
  JudgeSignatures(outcome, variant);
  probe_ns_ += outcome.ns;
  item.ns += outcome.ns;
  const Verdict verdict = outcome.summary.verdict;
  equivalence::Merge(item.summary, outcome.summary);
  if (equivalence::Passed(verdict)) {
    variant.CountPass();
    --item.batches_left;
    return;
  }
  item.batches_left = 0;
  variant.passed = 0;
  if (outcome.note[0] != '\0') Say(BLZ_LOG_WARNING, outcome.note);
  if (verdict == Verdict::kRejectedBroken || verdict == Verdict::kRejectedDifferent) {
    variant.rejected = true;
    OnRejected(variant, verdict);
  }
}

// Agreement between two runs of one plan says nothing.
void Engine::JudgeSignatures(Prober::Outcome& outcome, Variant& variant) {
  Digest of_default{};
  ops_.signature(ops_.user, 0, of_default.data());
  SignatureHolds(variant);
  if (!equivalence::Passed(outcome.summary.verdict)) return;
  if (variant.signature == of_default || IsZero(variant.signature)) {
    outcome.summary.verdict = Verdict::kInconclusive;
    outcome.note = "the variant and the default ran under one signature";
  } else if (of_default != workload_->default_signature) {
    outcome.summary.verdict = Verdict::kInconclusive;
    outcome.note = "the default ran under another signature than was described";
  }
}

void Engine::AnswerProbe(const ProbeItem& item) {
  const Variant* variant = variants_.Find(item.variant);
  ProbeDone done;
  done.probe_id = *probe_id_;
  done.variant = item.variant;
  done.summary = item.summary;
  done.probe_ns = item.ns;
  done.passed_batches = variant->passed;
  Answer(DirectiveKind::kProbe, done.probe_id, Encode(done));
}

void Engine::OnRejected(const Variant& variant, Verdict verdict) {
  ++rejected_;
  const bool in_use = champion_ == variant.id;
  const std::string why =
      std::string(in_use ? "the plan in use, " : "the candidate ") +
      PlanText(variant.plan, workload_->decisions) + (in_use ? "," : "") + " was put aside: " +
      (verdict == Verdict::kRejectedBroken
           ? "its run fails, or gives NaN or infinity that the default plan's does not"
           : "it does not compute the same numbers as the default plan");
  if (in_use) {
    FallBack(why);
  } else {
    // What the probe is there for: a verdict on the candidate, and no trouble.
    Say(BLZ_LOG_INFO, why);
  }
}

}  // namespace blazed::shim
