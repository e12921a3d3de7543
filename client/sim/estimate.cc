#include "client/sim/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daemon/planner/random.h"
#include "daemon/planner/scale.h"

namespace blazed::sim {
namespace {

constexpr double kTail = 0.025;
constexpr int kResamples = 400;

// The largest k with P(Binomial(n, 1/2) < k) <= 2.5 %, at least 1. In logarithms: n may be large.
size_t OrderOfLowEnd(size_t n) {
  const double count = static_cast<double>(n);
  double tail = 0, log_term = -count * std::log(2.0);
  size_t k = 0;
  while (k < n && tail + std::exp(log_term) <= kTail) {
    tail += std::exp(log_term);
    log_term += std::log((count - static_cast<double>(k)) / (static_cast<double>(k) + 1));
    ++k;
  }
  return std::max<size_t>(k, 1);
}

}  // namespace

Estimate RateOf(uint64_t hits, uint64_t all) {
  if (all == 0) return {0, 0, 1, 0};
  const double n = static_cast<double>(all), rate = static_cast<double>(hits) / n;
  const double square = kNormal95 * kNormal95 / n;
  const double middle = (rate + square / 2) / (1 + square);
  const double half =
      kNormal95 * std::sqrt(rate * (1 - rate) / n + square / (4 * n)) / (1 + square);
  // Exact at the ends, where rounding would leave the rate outside of its own interval.
  return {rate, hits == 0 ? 0 : std::max(0.0, middle - half),
          hits == all ? 1 : std::min(1.0, middle + half), all};
}

Estimate MedianOf(std::vector<double> values) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {kNone, kNone, kNone, 0};
  std::sort(values.begin(), values.end());
  const size_t k = OrderOfLowEnd(values.size());
  return {planner::Median(values), values[k - 1], values[values.size() - k], values.size()};
}

Estimate RatioOf(const std::vector<double>& parts, const std::vector<double>& wholes,
                 uint64_t seed) {
  const auto ratio = [&](auto index) {
    double part = 0, whole = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const size_t at = index(i);
      part += parts[at];
      whole += wholes[at];
    }
    return whole == 0 ? 0 : part / whole;
  };
  if (std::all_of(wholes.begin(), wholes.end(), [](double whole) { return whole == 0; })) return {};
  planner::Random random(seed);
  std::vector<double> drawn;
  for (int i = 0; i < kResamples; ++i) {
    drawn.push_back(ratio([&](size_t) { return static_cast<size_t>(random.Below(parts.size())); }));
  }
  std::sort(drawn.begin(), drawn.end());
  const double value = ratio([](size_t i) { return i; });
  const size_t cut = static_cast<size_t>(kTail * kResamples);
  return {value, std::min(value, drawn[cut]), std::max(value, drawn[drawn.size() - 1 - cut]),
          parts.size()};
}

Estimate RateOverRuns(const std::vector<double>& hits, const std::vector<double>& all,
                      uint64_t seed) {
  double hit = 0, things = 0;
  uint64_t runs = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    hit += hits[i];
    things += all[i];
    runs += all[i] > 0;
  }
  if (runs == 0) return RateOf(0, 0);
  Estimate rate = RatioOf(hits, all, seed);
  rate.n = static_cast<uint64_t>(things);
  if (hit == 0) rate.high = RateOf(0, runs).high;
  if (hit == things) rate.low = RateOf(runs, runs).low;
  return rate;
}

Estimate MeanOf(const std::vector<double>& values, uint64_t seed) {
  return RatioOf(values, std::vector<double>(values.size(), 1.0), seed);
}

}  // namespace blazed::sim
