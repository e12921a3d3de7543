#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace blazed::fuse {

// One non-default option. `decision` indexes DecisionSpace::decisions.
struct PlanEntry {
  int32_t decision = 0;
  int32_t option = 0;

  friend auto operator<=>(const PlanEntry&, const PlanEntry&) = default;
};

// The non-default options, ascending by decision, at most one each. Empty is the default plan.
using Plan = std::vector<PlanEntry>;

// "default", or "3=1 7=2".
std::string PlanText(const Plan& plan);

}  // namespace blazed::fuse
