// "Nothing is faster" is stored and served to every later process, on the word of a model that has
// seen few pairs. So before it is settled the plans that speak most against it race the default
// once, under the terms of a verification: an error of 1 %, and without the first step after a
// switch, on which a plan may pay for what it saves later. They look for gains that could settle;
// a finer grain, which some searches have, would take thousands of steps to tell nothing of use.
#include <algorithm>
#include <utility>

#include "daemon/planner/prospect.h"
#include "daemon/planner/tuning_state.h"

namespace blazed::planner {
namespace {

constexpr size_t kLooks = 3;

}  // namespace

std::optional<Plan> Tuning::State::LastLook(Session& s) {
  auto& looks = campaign_.looks;
  if (!campaign_.champion.empty() || looks.size() >= kLooks) return std::nullopt;
  const double least = std::max(search_.profile().delta0, config_.delta0);
  std::optional<Plan> most_likely;
  double most = 0;
  for (const auto& [plan, record] : plans_) {
    if (plan.empty() || record.pairs == 0 || search_.GivenUp(plan) || !Proven(s, plan)) continue;
    if (std::find(looks.begin(), looks.end(), plan) != looks.end()) continue;
    const auto [gain, sd] = search_.Predict(Plan{}, plan);
    const double brings = ExpectedImprovement(gain - least, sd);
    if (brings <= most) continue;
    most = brings;
    most_likely = plan;
  }
  campaign_.looking = most_likely.has_value();
  if (most_likely) looks.push_back(*most_likely);
  return most_likely;
}

// Where many plans run as one, the model may take what they share for plans that change nothing,
// and name none of them. What runs as no plan before it is measured once all the same.
bool Tuning::State::MeasureTheRest(const Session& s) {
  if (campaign_.measured || std::exchange(campaign_.rest_named, true)) return false;
  for (const auto& [plan, record] : plans_) {
    const bool open = record.verdict == Verdict::kProposed || record.verdict == Verdict::kProven;
    if (plan.empty() || !open || record.signature == Digest{} || record.pairs > 0) continue;
    if (s.failed.contains(plan) || search_.GivenUp(plan)) continue;
    campaign_.batch.push_back(plan);
    if (campaign_.batch.size() == search_.profile().batch) break;
  }
  return !campaign_.batch.empty();
}

}  // namespace blazed::planner
