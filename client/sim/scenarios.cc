#include "client/sim/scenarios.h"

#include <limits>

#include "client/sim/scenario_list.h"

namespace blazed::sim {

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> kAll = {
      AaScenario(),    PowerScenario(), SearchScenario(),  NullScenario(),    EvaporateScenario(),
      CarryScenario(), DriftScenario(), QueueScenario(),   ReplayScenario(),  BuildsScenario(),
      JobsScenario(),  TailsScenario(), RestartScenario(), CompareScenario(),
  };
  return kAll;
}

const Scenario* FindScenario(const std::string& name) {
  for (const Scenario& scenario : Scenarios()) {
    if (scenario.name == name) return &scenario;
  }
  return nullptr;
}

void Put(Row& row, const std::string& name, const Estimate& estimate) {
  row.push_back({name, estimate.value});
  row.push_back({name + "_low", estimate.low});
  row.push_back({name + "_high", estimate.high});
}

const Value* FieldOf(const Row& row, const std::string& name) {
  for (const auto& [field, value] : row) {
    if (field == name) return &value;
  }
  return nullptr;
}

double NumberOf(const Row& row, const std::string& name) {
  const Value* value = FieldOf(row, name);
  if (value != nullptr) {
    if (const auto* number = std::get_if<double>(value)) return *number;
    if (const auto* count = std::get_if<uint64_t>(value)) return static_cast<double>(*count);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace blazed::sim
