#include "storage/plan_text.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace blazed::storage {

std::string PlanToText(const planner::Plan& plan) {
  return absl::StrJoin(plan, ",", [](std::string* out, const planner::Choice& choice) {
    absl::StrAppend(out, choice.decision, ":", choice.option);
  });
}

absl::StatusOr<planner::Plan> PlanFromText(std::string_view text) {
  planner::Plan plan;
  if (text.empty()) return plan;
  for (absl::string_view part : absl::StrSplit(absl::string_view(text.data(), text.size()), ',')) {
    const std::vector<absl::string_view> sides = absl::StrSplit(part, ':');
    planner::Choice choice;
    if (sides.size() != 2 || !absl::SimpleAtoi(sides[0], &choice.decision) ||
        !absl::SimpleAtoi(sides[1], &choice.option) || choice.option == 0 ||
        (!plan.empty() && plan.back().decision >= choice.decision)) {
      return absl::DataLossError("a stored plan is no sorted list of choices");
    }
    plan.push_back(choice);
  }
  return plan;
}

std::vector<std::string> PlanNames(const planner::WorkloadSpec& workload,
                                   const planner::Plan& plan) {
  std::vector<std::string> names;
  names.reserve(plan.size());
  for (const planner::Choice& choice : plan) {
    if (choice.decision < workload.decisions.size() &&
        choice.option < workload.decisions[choice.decision].options.size()) {
      const planner::DecisionSpec& decision = workload.decisions[choice.decision];
      names.push_back(absl::StrCat(decision.name, "=", decision.options[choice.option]));
    } else {
      names.push_back(absl::StrCat(choice.decision, "=", choice.option));
    }
  }
  return names;
}

std::string PlanForPeople(const planner::WorkloadSpec& workload, const planner::Plan& plan) {
  if (plan.empty()) return "default";
  return absl::StrJoin(PlanNames(workload, plan), ", ");
}

}  // namespace blazed::storage
