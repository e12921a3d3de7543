// Scenarios of single races.
#pragma once

#include "client/sim/scenarios.h"

namespace blazed::sim {

std::vector<Row> RunAa(uint64_t runs, uint64_t seed, const Progress& progress);
std::vector<Row> RunPower(uint64_t runs, uint64_t seed, const Progress& progress);

}  // namespace blazed::sim
