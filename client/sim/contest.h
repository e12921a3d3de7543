// Workloads that methods are compared on, by name: a number of boundaries, or a recorded table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/sim/arena.h"

namespace blazed::sim {

struct Contest {
  CostTable table;
  ArenaSettings arena;
  double step_ns = 0;  // of the default plan
};

// Null where no space has that name.
std::unique_ptr<Contest> ContestOf(const std::string& space, double build_s, uint64_t seed);

const std::vector<std::string>& RecordedSpaces();

}  // namespace blazed::sim
