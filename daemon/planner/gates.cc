#include "daemon/planner/gates.h"

#include <cmath>

namespace blazed::planner {
namespace {

bool Usable(const ComparisonSummary& s) {
  for (double value : {s.max_abs, s.max_rel, s.own_max_rel, s.allowed_max_rel}) {
    if (!std::isfinite(value) || value < 0) return false;
  }
  if (s.mismatches > s.elements || s.nan_variant > s.elements || s.inf_variant > s.elements) {
    return false;
  }
  return s.prediction_disagreements <= s.elements;
}

GateAnswer Reject(Verdict verdict, std::string reason) {
  return {false, verdict, std::move(reason)};
}

std::string At(const ComparisonSummary& s) {
  return s.worst_tensor.empty() ? std::string() : " at " + s.worst_tensor;
}

bool SameBits(const ComparisonSummary& s) {
  return s.mismatches == 0 && s.digest_default == s.digest_variant;
}

// What the contract allows beyond what every contract forbids.
GateAnswer JudgeContract(Contract contract, const ComparisonSummary& s) {
  if (s.equivalence == Equivalence::kIdentical && !SameBits(s)) {
    return Reject(Verdict::kRejectedDifferent,
                  "called identical, but digests or elements differ" + At(s));
  }
  if (contract == Contract::kBitwise && s.equivalence != Equivalence::kIdentical) {
    return Reject(Verdict::kRejectedDifferent, std::to_string(s.mismatches) +
                                                   " elements differ in bits under the contract "
                                                   "bitwise" +
                                                   At(s));
  }
  if (s.prediction_disagreements > 0) {
    return Reject(Verdict::kRejectedDifferent,
                  std::to_string(s.prediction_disagreements) + " predictions differ");
  }
  return {true, Verdict::kProven, {}};
}

}  // namespace

GateAnswer JudgeProbe(Contract contract, const ComparisonSummary& summary, uint32_t passed_batches,
                      uint32_t needed) {
  const ComparisonSummary& s = summary;
  // A verdict against the variant needs no usable numbers; one for it does.
  if (s.equivalence == Equivalence::kRejectedBroken && s.nan_variant + s.inf_variant == 0) {
    GateAnswer answer = Reject(Verdict::kRejectedBroken,
                               "its probe failed to run, where the default's run did not");
    answer.faulted = true;
    return answer;
  }
  if (s.equivalence == Equivalence::kRejectedBroken || s.nan_variant > s.nan_default ||
      s.inf_variant > s.inf_default) {
    return Reject(Verdict::kRejectedBroken, "NaN or Inf that the default does not have" + At(s));
  }
  if (s.equivalence == Equivalence::kRejectedDifferent) {
    return Reject(Verdict::kRejectedDifferent, "computes other numbers than the default" + At(s));
  }
  if (!Usable(s)) return Reject(Verdict::kInconclusive, "the comparison's numbers are not usable");
  if (s.equivalence == Equivalence::kInconclusive ||
      s.equivalence == Equivalence::kNothingToCheck || s.elements == 0) {
    return Reject(Verdict::kInconclusive, "the probe compared nothing");
  }
  GateAnswer answer = JudgeContract(contract, s);
  if (answer.passed && passed_batches < needed) {
    return Reject(Verdict::kInconclusive, "passed " + std::to_string(passed_batches) + " of " +
                                              std::to_string(needed) + " live batches");
  }
  return answer;
}

bool FitsMemory(uint64_t peak_bytes, uint64_t default_peak_bytes, uint64_t extra_bytes) {
  if (default_peak_bytes == 0 || peak_bytes <= default_peak_bytes) return true;
  return peak_bytes - default_peak_bytes <= extra_bytes;
}

}  // namespace blazed::planner
