#include "daemon/planner/budget.h"

#include <algorithm>
#include <cmath>

namespace blazed::planner {
namespace {

constexpr double kLongestNs = 9e18;  // what a Nanos holds

Nanos Whole(double ns) { return Nanos(static_cast<int64_t>(std::clamp(ns, 0.0, kLongestNs))); }

}  // namespace

Budget::Budget(const TuningConfig& config, Moment since)
    : since_(since),
      share_(config.budget_share),
      allowance_ns_(static_cast<double>(config.budget_allowance.count())) {}

double Budget::AllowedNs(Moment now) const {
  return allowance_ns_ + share_ * static_cast<double>(std::max(now - since_, Nanos(0)).count());
}

Nanos Budget::spent() const { return Whole(spent_ns_); }

Nanos Budget::Allowed(Moment now) const { return Whole(AllowedNs(now)); }

// What costs nothing fits until something is overdrawn.
bool Budget::Covers(double ns, Moment now) const { return spent_ns_ + ns <= AllowedNs(now); }

std::optional<Moment> Budget::CoversAt(double ns, Moment now) const {
  const double missing = spent_ns_ + ns - AllowedNs(now);
  if (missing <= 0) return now;
  if (share_ <= 0) return std::nullopt;
  const double at = static_cast<double>(now.count()) + std::ceil(missing / share_);
  return at < kLongestNs ? std::optional(Whole(at)) : std::nullopt;
}

}  // namespace blazed::planner
