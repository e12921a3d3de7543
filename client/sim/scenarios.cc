#include "client/sim/scenarios.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/sim/scenario_list.h"

namespace blazed::sim {
namespace {

// Of how many runs a share has to be that stands at its best end, so that Wilson's interval lies
// within the bar as a whole: with fewer, not even 0 of all would show it. 381 for 1 %.
uint64_t RunsToShow(const Bar& bar) {
  if (bar.nominal || bar.limit <= 0 || bar.limit >= 1) return 0;
  const double far = bar.sense == Sense::kAtMost ? bar.limit : 1 - bar.limit;
  return static_cast<uint64_t>(std::ceil(kNormal95 * kNormal95 * (1 - far) / far));
}

Scenario WithEnoughRuns(Scenario scenario) {
  for (const Bar& bar : scenario.bars) scenario.runs = std::max(scenario.runs, RunsToShow(bar));
  return scenario;
}

}  // namespace

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> kAll = [] {
    std::vector<Scenario> all;
    for (const auto& make :
         {AaScenario, PowerScenario, SearchScenario, NullScenario, EvaporateScenario, CarryScenario,
          DriftScenario, QueueScenario, ReplayScenario, BuildsScenario, JobsScenario, TailsScenario,
          RestartScenario, CompareScenario}) {
      all.push_back(WithEnoughRuns(make()));
    }
    return all;
  }();
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
  row.push_back({name + "_n", estimate.n});
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
