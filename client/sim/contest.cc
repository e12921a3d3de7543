#include "client/sim/contest.h"

#include <charconv>

#include "client/sim/recorded.h"
#include "client/sim/whole_tunings.h"

namespace blazed::sim {
namespace {

constexpr double kStepNs = 50e6, kSecond = 1e9;
constexpr uint32_t kMostBoundaries = 256;

const std::vector<RecordedPlans>& Tables() {
  static const std::vector<RecordedPlans> kTables = ReadRecordedPlans();
  return kTables;
}

std::unique_ptr<Contest> Make(CostTable table, double build_s) {
  auto contest = std::make_unique<Contest>(Contest{std::move(table), {}, kStepNs});
  contest->arena.build_steps = build_s * kSecond / kStepNs;
  return contest;
}

}  // namespace

const std::vector<std::string>& RecordedSpaces() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const RecordedPlans& plans : Tables()) names.push_back(plans.name);
    return names;
  }();
  return kNames;
}

// Recorded tables run at the step time of the drawn ones, so that a build weighs the same.
std::unique_ptr<Contest> ContestOf(const std::string& space, double build_s, uint64_t seed) {
  for (const RecordedPlans& plans : Tables()) {
    if (plans.name == space) return Make(plans.table, build_s);
  }
  uint32_t boundaries = 0;
  const char* end = space.data() + space.size();
  const auto [stop, error] = std::from_chars(space.data(), end, boundaries);
  if (error != std::errc() || stop != end || boundaries < 1 || boundaries > kMostBoundaries) {
    return nullptr;
  }
  return Make(CostTable(TableOf(boundaries), seed), build_s);
}

}  // namespace blazed::sim
