// What another process may believe of a win that one process settled for itself.
//
// The start of a process draws placement, allocation and code again, and a plan's effect with them:
// a rebuild inside of one process does not. Such an effect is real there and gone in the next
// process. The search picks the best of many plans, so it also picks the luckiest.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/planner/types.h"

namespace blazed::planner {

// Spread of a plan's effect between processes up to which the stated error rate holds.
inline constexpr double kProcessSpread = 0.003;

// The log ratio that the luckiest of `plans` equal plans stays below in one process, in 99 searches
// of 100.
double LuckOfPlans(uint64_t plans);

// Each plan that was measured was a chance to be lucky.
bool WasMeasured(const PlanRecord& record);

// True where the settled win may be one process's own. Another process replicates it by pairs
// before it adopts it, however equal its signatures are.
bool AwaitsReplication(const SettlementRecord& settlement, uint64_t plans);

// The same as a sentence for people; empty where nothing is awaited.
std::string AwaitsReplicationText(const SettlementRecord& settlement, uint64_t plans);

}  // namespace blazed::planner
