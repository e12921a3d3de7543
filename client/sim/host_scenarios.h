// Scenarios of whole tunings against a simulated host.
#pragma once

#include "client/sim/scenarios.h"

namespace blazed::sim {

std::vector<Row> RunNull(uint64_t runs, uint64_t seed, const Progress& progress);
std::vector<Row> RunSearch(uint64_t runs, uint64_t seed, const Progress& progress);
std::vector<Row> RunCarry(uint64_t runs, uint64_t seed, const Progress& progress);
std::vector<Row> RunEvaporate(uint64_t runs, uint64_t seed, const Progress& progress);
std::vector<Row> RunDrift(uint64_t runs, uint64_t seed, const Progress& progress);

}  // namespace blazed::sim
