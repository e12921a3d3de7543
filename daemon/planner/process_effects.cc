#include "daemon/planner/process_effects.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/counted.h"
#include "daemon/planner/interval.h"

namespace blazed::planner {
namespace {

constexpr double kUnlucky = 0.01;  // share of searches whose luckiest plan lies beyond
constexpr double kFarthest = 8;    // standard deviations; beyond what 2^32 plans reach
constexpr int kHalvings = 40;

// Share of a standard normal above z.
double Above(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

}  // namespace

double LuckOfPlans(uint64_t plans) {
  const double share = kUnlucky / static_cast<double>(std::max<uint64_t>(plans, 1));
  double low = 0, high = kFarthest;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (Above(middle) > share ? low : high) = middle;
  }
  return kProcessSpread * high;
}

bool WasMeasured(const PlanRecord& record) { return !record.plan.empty() && record.pairs > 0; }

bool AwaitsReplication(const SettlementRecord& settlement, uint64_t plans) {
  // Written so that a gain that is no number waits.
  return settlement.kind == SettlementKind::kInJob &&
         !(settlement.gain.low > 1 - std::exp(-LuckOfPlans(plans)));
}

std::string AwaitsReplicationText(const SettlementRecord& settlement, uint64_t plans) {
  if (!AwaitsReplication(settlement, plans)) return {};
  return "won in its own process; another one replicates it before adopting it, because the "
         "luckiest of " +
         Counted(std::max<uint64_t>(plans, 1), "plan") + " may be " +
         PercentText(LuckOfPlans(plans)) + " faster in one process alone";
}

}  // namespace blazed::planner
