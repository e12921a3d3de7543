// What a thought (thought.h) came to: plans, and what they were judged by. A value, small enough to
// stand in a log.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/planner/types.h"

namespace blazed::planner {

struct Conclusion {
  std::optional<Plan> contender;  // has earned a race against the champion
  double left = 0;                // expected improvement, summed over single changes
  std::vector<Plan> plans;        // to be tried next; none where the search has ended
  // Where builds are dear: the best plan measured, and what the one that is to be built next is
  // expected to bring beyond it, in log step time.
  Plan base;
  double gain = 0;
  uint32_t samples = 0;  // drawn for the plans
  uint32_t quiet = 0;    // samples in a row up to the last that named the champion
  bool operator==(const Conclusion&) const = default;
};

}  // namespace blazed::planner
