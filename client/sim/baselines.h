// What people would pick instead of a planner, each as it is commonly done.
#pragma once

#include <cstdint>
#include <vector>

#include "client/sim/arena.h"

namespace blazed::sim {

struct Baseline {
  const char* name;
  planner::Plan (*choose)(Arena& arena, uint64_t seed);
  double most_plans;  // of spaces that it is run on
};

const std::vector<Baseline>& Baselines();

double PlansOf(const CostTable& table);  // how many there are

}  // namespace blazed::sim
