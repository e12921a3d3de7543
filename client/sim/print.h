// Rows as a table for people or as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "client/sim/judge.h"
#include "client/sim/scenarios.h"

namespace blazed::sim {

std::string ToText(const Value& value);

// Rows with other fields begin a table of their own; a figure, its interval and its
// count share a column.
std::string ToTable(const std::vector<Row>& rows);
// `findings`: of --check; none are left out.
std::string ToJson(const std::string& scenario, uint64_t runs, uint64_t seed,
                   const std::vector<Row>& rows, const std::vector<Finding>& findings = {});
std::string ToLines(const std::vector<Finding>& findings);

}  // namespace blazed::sim
