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

// Null where no space has that name, or no space has so many boundaries.
std::unique_ptr<Contest> ContestOf(const std::string& space, double build_s, uint64_t seed);

// Of the noise on a workload drawn from `seed`: the same seed for every method, though each draws a
// sequence of its own from it, and another one than that workload was drawn from.
inline uint64_t NoiseSeedOf(uint64_t seed) { return seed + 7; }

const std::vector<std::string>& RecordedSpaces();

}  // namespace blazed::sim
