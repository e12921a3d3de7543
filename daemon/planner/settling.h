// What it takes to settle: how large a replicated win must be, and the record of one.
#pragma once

#include <vector>

#include "daemon/planner/race.h"
#include "daemon/planner/tuning.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

// Replications that do not hold, of different plans, until a search ends without a winner.
inline constexpr uint32_t kReplications = 3;

// One process's estimate of a plan pair's effect.
struct SessionEffect {
  double estimate = 0;
  double standard_error = 0;
};

// Spread of a plan's effect between processes: DerSimonian and Laird's moment estimator, shrunk
// towards a prior of 0.2 % that counts as four sessions (below four sessions the prior rules).
double SessionSpread(const std::vector<SessionEffect>& sessions);

// What each job of a replication saw; of all pairs together where none gave enough to tell.
std::vector<SessionEffect> EffectsOf(const Race& race);

// A settled win is larger than max(config.delta0, 1.64 times the session spread).
// `attempt` counts from 1 over the life of the workload, all processes together: verifications and
// replications share alpha as search races do.
RaceTerms SettlingTerms(const TuningConfig& config, double spread, double delta1, double scale,
                        uint64_t attempt);

// The record of a won replication: default played the champion's part. `cost` up to now; step times
// are those of `session`.
SettlementRecord SettleWinner(const Race& race, SettlementKind kind, const CostRecord& cost,
                              SessionId session = 0);

// Steps after which what was spent is earned back; 0 where nothing is gained.
double BreakEvenSteps(const CostRecord& cost, double slow_ns, double fast_ns);

}  // namespace blazed::planner
