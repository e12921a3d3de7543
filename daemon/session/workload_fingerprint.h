// The fingerprint of a workload, as the daemon finds it. A shim sends its own; the two must be
// equal, so that a claim names nothing but what was described.
#pragma once

#include "daemon/planner/types.h"
#include "storage/records.h"

namespace blazed::session {

// XXH3-128 over the graphs' fingerprints and every decision's id, kind, options, graph and sites,
// in order, numbers as 8 bytes with the least significant first and texts behind their lengths. The
// shim's rule (client/cpp/engine/workload.h); names for people are not in it.
planner::Digest WorkloadFingerprint(const storage::WorkloadRow& workload);

}  // namespace blazed::session
