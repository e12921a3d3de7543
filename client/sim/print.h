// Rows as a table for people or as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "client/sim/scenarios.h"

namespace blazed::sim {

std::string ToTable(const std::vector<Row>& rows);
std::string ToJson(const std::string& scenario, uint64_t runs, uint64_t seed,
                   const std::vector<Row>& rows);

}  // namespace blazed::sim
