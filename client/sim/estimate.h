// Figures with their error: each is given with a 95 % interval, so that a bar is judged with it.
#pragma once

#include <cstdint>
#include <vector>

namespace blazed::sim {

inline constexpr double kNormal95 = 1.959963984540054;

struct Estimate {
  double value = 0, low = 0, high = 0;
  uint64_t n = 0;  // of how many runs, races or values; 0: nothing was there to take it from
};

// Share of `all` that are hits, with Wilson's interval. 0 of 0 is anything from 0 to 1.
Estimate RateOf(uint64_t hits, uint64_t all);

// Median with the order statistics that hold it with 95 %; all of the range below six values.
// Not a number for no values, so that no bar holds for want of them.
Estimate MedianOf(std::vector<double> values);

// Sum of parts over sum of wholes, resampled by run: 95 % of 400 resamples, drawn from `seed`.
// All zero, n as well, where the wholes are.
Estimate RatioOf(const std::vector<double>& parts, const std::vector<double>& wholes,
                 uint64_t seed);

// A share of things of which one run has several, for example of races: they share the run's
// workload and noise, so runs are resampled and not things. Where all runs agree, resamples do as
// well, and the interval is Wilson's of so many runs. n counts things.
Estimate RateOverRuns(const std::vector<double>& hits, const std::vector<double>& all,
                      uint64_t seed);

// Mean, resampled in the same way.
Estimate MeanOf(const std::vector<double>& values, uint64_t seed);

}  // namespace blazed::sim
