#include "daemon/planner/interval.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/eprocess.h"
#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

constexpr double kGridStep = 0.001;
constexpr double kWidest = 64;  // beyond the ratio of any two durations

// Evidence that the effect is larger (side +1) or smaller (side -1) than delta.
double LogEvidence(const std::vector<double>& ratios, const std::vector<double>& scales,
                   double delta, double side) {
  ClippedBet bet;
  for (size_t i = 0; i < ratios.size(); ++i) bet.Add(side * (ratios[i] - delta), scales[i]);
  return bet.LogE();
}

// Grid points on either side of zero. Beyond every ratio and its clip the evidence no longer
// changes, so an end that is not refuted there is open.
int HalfGrid(const std::vector<double>& ratios, const std::vector<double>& scales) {
  double reach = kOpenEnd;
  for (size_t i = 0; i < ratios.size(); ++i) {
    reach = std::max(reach, std::fabs(ratios[i]) + kClip * scales[i]);
  }
  return static_cast<int>(std::ceil(std::min(reach, kWidest) / kGridStep));
}

}  // namespace

Interval ConfidenceInterval(const std::vector<double>& ratios, const std::vector<double>& scales,
                            double alpha) {
  const double bound = std::log(2 / alpha);
  const double step = kGridStep;
  const int half = HalfGrid(ratios, scales);
  // Lower end: the smallest delta whose "larger than delta" is not proven.
  int low = -half, high = half;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (LogEvidence(ratios, scales, middle * step, +1) < bound) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const int lower = low;
  low = -half;
  high = half;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (LogEvidence(ratios, scales, middle * step, -1) < bound) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  // One grid step outwards: the true border lies between two grid points.
  return {Median(ratios), (lower - 1) * step, (low + 1) * step};
}

Interval SavingOf(const Interval& log_ratio) {
  return {1 - std::exp(-log_ratio.estimate), 1 - std::exp(-log_ratio.low),
          1 - std::exp(-log_ratio.high)};
}

// Written so that what is no number is open.
bool IsOpenBelow(const Interval& saving) { return !(saving.low > 1 - std::exp(kOpenEnd)); }
bool IsOpenAbove(const Interval& saving) { return !(saving.high < 1 - std::exp(-kOpenEnd)); }

std::string PercentText(double log_ratio) {
  if (!(std::fabs(log_ratio) < kOpenEnd)) return "a factor of seven or more";
  const auto tenths = static_cast<int64_t>(std::fabs(1 - std::exp(-log_ratio)) * 1000 + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

}  // namespace blazed::planner
