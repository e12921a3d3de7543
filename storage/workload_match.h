// When two descriptions under one fingerprint are the same workload.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "storage/digest_text.h"
#include "storage/records.h"

namespace blazed::storage {

// Names may differ between processes; graphs, decisions and the number of their options may not,
// because plans are written as indexes into them. INVALID_ARGUMENT otherwise.
inline absl::Status CheckSameWorkload(const WorkloadRow& known, const WorkloadRow& told) {
  bool same =
      known.graphs == told.graphs && known.spec.decisions.size() == told.spec.decisions.size();
  for (size_t i = 0; same && i < told.spec.decisions.size(); ++i) {
    same = known.spec.decisions[i].id == told.spec.decisions[i].id &&
           known.spec.decisions[i].options.size() == told.spec.decisions[i].options.size();
  }
  if (same) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("workload ", DigestToHex(told.spec.fingerprint),
                   " is known with other graphs or decisions; describe it as before, or with a "
                   "decision that tells the two apart"));
}

}  // namespace blazed::storage
