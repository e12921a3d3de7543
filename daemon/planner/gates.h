// Verify: may this variant touch a step that updates the model? The shim has judged already; the
// planner repeats the judgement from the numbers and may only be stricter.
#pragma once

#include <string>

#include "daemon/planner/types.h"

namespace blazed::planner {

struct GateAnswer {
  bool passed = false;
  Verdict verdict = Verdict::kInconclusive;  // kProven where passed
  std::string reason;
  bool faulted = false;  // kRejectedBroken, for a run that failed: no number of it was seen
};

// `passed_batches` live batches in a row were passed in this process; `needed` is the contract's
// count.
GateAnswer JudgeProbe(Contract contract, const ComparisonSummary& summary, uint32_t passed_batches,
                      uint32_t needed);

// Numbers that the plan got wrong. Everything else says something about one host or one process.
inline bool IsWrong(Verdict verdict) {
  return verdict == Verdict::kRejectedBroken || verdict == Verdict::kRejectedDifferent;
}

// Peak memory above the default's plus what the job allows is a refusal. A default of 0 bytes is
// unknown.
bool FitsMemory(uint64_t peak_bytes, uint64_t default_peak_bytes, uint64_t extra_bytes);

}  // namespace blazed::planner
