// How many threads a step runs on: a decision of the whole step, for people who allow more than
// one. Which rows a thread computes changes no bit of any of them.
#pragma once

#include "absl/status/status.h"
#include "kernels/fuse/decision.h"

namespace blazed::fuse {

// Adds the decision, behind all others: `1`, the host's own, then powers of two below `most`, then
// `most`. Nothing where `most` is 1. INVALID_ARGUMENT where the graph has kMaxDecisions already.
absl::Status OfferThreads(int most, DecisionSpace* space);

// Threads of a step under `plan`; 1 where nothing else was offered.
int ThreadsOf(const DecisionSpace& space, const Plan& plan);

}  // namespace blazed::fuse
