// What blaze-sim can run: the product's own planner under simulated hosts. One seed, one result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/sim/estimate.h"

namespace blazed::sim {

using Value = std::variant<std::string, double, uint64_t>;
using Row = std::vector<std::pair<std::string, Value>>;  // fields in order

// Adds `name`, `name_low`, `name_high` and `name_n`.
void Put(Row& row, const std::string& name, const Estimate& estimate);

// Null where the row has no such field.
const Value* FieldOf(const Row& row, const std::string& name);
// The same as a number; NaN where there is none.
double NumberOf(const Row& row, const std::string& name);

// Called after each run with the share that is done, 0 to 1; never by two threads at once.
using Progress = std::function<void(double)>;

struct Request {
  uint64_t runs = 1;  // of each row
  uint64_t seed = 1;
  unsigned threads = 1;              // results do not depend on it
  std::vector<uint32_t> boundaries;  // sizes of spaces; empty: the scenario's own
  std::optional<double> build_s;     // what a build takes; none: the scenario's own
  Progress progress = [](double) {};
};

enum class Sense { kAtMost, kAtLeast };

// A figure that rows must reach.
struct Bar {
  const char* field;
  Sense sense;
  double limit;
  // Only rows that hold these values; empty: all rows that have the field.
  std::vector<std::pair<std::string, Value>> where;
  // The limit is a nominal rate that holds within three standard errors of the figure's count.
  bool nominal = false;
};

struct Field {
  const char* name;
  const char* meaning;
};

struct Scenario {
  const char* name;
  const char* about;
  uint64_t runs;  // default count for each row; Scenarios() gives more where bars need them
  std::vector<Row> (*run)(const Request& request);
  std::vector<Field> fields;  // what a row says
  std::vector<Bar> bars;
};

const std::vector<Scenario>& Scenarios();
const Scenario* FindScenario(const std::string& name);  // null: there is none

}  // namespace blazed::sim
