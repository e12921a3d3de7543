// What blaze-sim can run: the product's own planner under simulated hosts. One seed, one result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace blazed::sim {

using Value = std::variant<std::string, double, uint64_t>;
using Row = std::vector<std::pair<std::string, Value>>;  // fields in order

// Called after each run with the share that is done, 0 to 1.
using Progress = std::function<void(double)>;

struct Scenario {
  const char* name;
  const char* about;
  uint64_t runs;  // default count for each row
  std::vector<Row> (*run)(uint64_t runs, uint64_t seed, const Progress& progress);
};

const std::vector<Scenario>& Scenarios();

}  // namespace blazed::sim
