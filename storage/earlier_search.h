// What a stored settlement tells the forecast of a later search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "daemon/planner/types.h"

namespace blazed::storage {

inline constexpr size_t kEarlierSearches = 16;  // the newest: machines and frameworks change

// Nothing for one that another process's replication brought: it was no search.
inline std::optional<planner::EarlierSearch> EarlierSearchOf(
    const planner::SettlementRecord& settlement, uint64_t options) {
  const planner::CostRecord& cost = settlement.cost;
  if (settlement.kind == planner::SettlementKind::kReplicated) return std::nullopt;
  if (settlement.default_step_ns <= 0 || cost.window.count() <= 0) return std::nullopt;
  const planner::Nanos steps = cost.window - cost.build - cost.probe;
  return planner::EarlierSearch{
      options, cost.builds,
      std::max(0.0, static_cast<double>(steps.count()) / settlement.default_step_ns)};
}

}  // namespace blazed::storage
