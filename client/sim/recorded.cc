#include "client/sim/recorded.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include "client/sim/json.h"
#include "daemon/planner/scale.h"

namespace blazed::sim {
namespace {

using planner::Median;
using planner::Plan;

constexpr double kUs = 1e3, kMs = 1e6, kSecond = 1e9;

double MedianOfItems(const Json& json) {
  std::vector<double> values;
  for (const Json& item : json.Items()) values.push_back(item.Number());
  return Median(values);
}

// Of the groups that ran the default plan, which has index 0.
void AddGroups(const Json& groups, RecordedSteps& steps) {
  for (const Json& group : groups.Items()) {
    if (group.Items().size() != 2 || group.Items()[0].Number() != 0) continue;
    std::vector<double>& kept = steps.groups.emplace_back();
    const auto& durations = group.Items()[1].Items();
    for (size_t i = 1; i < durations.size(); ++i) kept.push_back(durations[i].Number() * kUs);
  }
}

RecordedPlans PlansOf(const std::string& name, const Json& file) {
  const auto& plans = file.At("plans").Items();
  std::map<Plan, ListedPlan> listed;
  std::vector<double> builds;
  const double default_ms = plans.empty() ? 1 : MedianOfItems(plans[0].At("loop_ms"));
  for (uint32_t p = 0; p < plans.size(); ++p) {
    const uint64_t signature = std::strtoull(plans[p].At("signature").Text().c_str(), nullptr, 16);
    builds.push_back(plans[p].At("compile_s").Number() * kSecond);
    for (uint32_t launch : {0u, 1u}) {
      Plan plan;
      if (launch == 1) plan.push_back({0, 1});
      if (p > 0) plan.push_back({1, p});
      const double ms = MedianOfItems(plans[p].At(launch == 1 ? "graph_ms" : "loop_ms"));
      listed[plan] = {std::log(ms / default_ms), 2 * signature + launch};
    }
  }
  const uint32_t count = static_cast<uint32_t>(plans.size());
  return {name, CostTable({2, count}, std::move(listed)), default_ms * kMs, Median(builds)};
}

}  // namespace

std::vector<RecordedSteps> ReadRecordedSteps() {
  std::vector<RecordedSteps> all;
  for (const auto& [name, text] : RecordedFiles()) {
    if (!name.starts_with("steps_")) continue;
    const auto json = ParseJson(text);
    if (!json) continue;
    RecordedSteps& steps = all.emplace_back();
    steps.name = name.substr(6);
    AddGroups(json->At("null"), steps);
    AddGroups(json->At("interleaved"), steps);
  }
  return all;
}

std::vector<RecordedPlans> ReadRecordedPlans() {
  std::vector<RecordedPlans> all;
  for (const auto& [name, text] : RecordedFiles()) {
    if (!name.starts_with("plans_")) continue;
    if (const auto json = ParseJson(text)) all.push_back(PlansOf(name, *json));
  }
  return all;
}

}  // namespace blazed::sim
