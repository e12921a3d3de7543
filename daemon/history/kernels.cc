#include "daemon/history/kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "daemon/history/explain.h"
#include "daemon/planner/counted.h"

namespace blazed::history {
namespace {

using planner::Counted;
using storage::KernelUse;
using storage::StepTotals;

// Of a side that does not run it 0; nothing where it runs for a time that is not known.
std::optional<double> TimeOf(const KernelUse* use) {
  if (use == nullptr) return 0;
  if (!use->time_ns.has_value()) return std::nullopt;
  return static_cast<double>(*use->time_ns);
}

// Larger keys come first: how much the time changed, the longer of both times, and the name.
auto KeyOf(const KernelChange& change) {
  const std::optional<double> before = TimeOf(change.before), after = TimeOf(change.after);
  const bool known = before.has_value() && after.has_value();
  return std::tuple(known ? std::fabs(*before - *after) : -1.0,
                    std::max(before.value_or(0), after.value_or(0)));
}

std::string_view NameOf(const KernelChange& change) {
  return change.before != nullptr ? change.before->name : change.after->name;
}

std::string RunText(const StepTotals& totals, std::optional<double> raced_ns) {
  if (!totals.busy_ns.has_value()) return "";
  const auto busy = static_cast<double>(*totals.busy_ns);
  std::string text = absl::StrCat("kernels run for ", TimeText(busy));
  const bool fits = raced_ns.has_value() && busy <= *raced_ns;
  const double step = fits ? *raced_ns : static_cast<double>(totals.step_ns.value_or(0));
  if (step > 0) {
    absl::StrAppend(&text, " of ", TimeText(step), " (", ShareText(busy / step), ")",
                    fits ? "" : " under a profiler");
  }
  return text;
}

std::string LaunchText(const StepTotals& totals) {
  if (!totals.kernel_launches.has_value()) return "";
  std::string text = Counted(*totals.kernel_launches, "kernel");
  if (!totals.host_launches.has_value()) return text;
  const std::string noun = *totals.host_launches == 1 ? " launch" : " launches";
  return absl::StrCat(text, " by ", *totals.host_launches, noun);
}

std::string SideText(const StepTotals& totals, std::optional<double> raced_ns) {
  const std::string run = RunText(totals, raced_ns), launches = LaunchText(totals);
  return absl::StrCat(run, run.empty() || launches.empty() ? "" : ", ", launches);
}

}  // namespace

std::vector<KernelChange> ChangesOf(const storage::PlanKernels& kernels) {
  std::map<std::string_view, KernelChange> by_name;
  for (const KernelUse& use : kernels.before.kernels) by_name[use.name].before = &use;
  for (const KernelUse& use : kernels.after.kernels) by_name[use.name].after = &use;
  std::vector<KernelChange> changes;
  for (const auto& [name, change] : by_name) changes.push_back(change);
  std::sort(changes.begin(), changes.end(), [](const KernelChange& a, const KernelChange& b) {
    const auto key_a = KeyOf(a), key_b = KeyOf(b);
    return key_a != key_b ? key_a > key_b : NameOf(a) < NameOf(b);
  });
  return changes;
}

std::string BusySentence(const storage::PlanKernels& kernels,
                         const std::optional<RacedSteps>& raced) {
  std::optional<double> default_ns, plan_ns;
  if (raced.has_value()) {
    default_ns = raced->default_ns;
    plan_ns = raced->plan_ns;
  }
  const std::string before = SideText(kernels.before.totals, default_ns);
  const std::string after = SideText(kernels.after.totals, plan_ns);
  if (before.empty() || after.empty()) return "";
  return absl::StrCat("in a step of the default plan ", before, "; in one of this plan ", after);
}

}  // namespace blazed::history
