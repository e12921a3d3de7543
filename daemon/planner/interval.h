// Anytime-valid interval of a constant effect: every delta that neither e-process refutes at level
// alpha, found on a grid of 0.1 % from -20 % to +20 %. Both processes are monotone in delta, so
// each end is found by bisection.
#pragma once

#include <string>
#include <vector>

#include "daemon/planner/types.h"

namespace blazed::planner {

// A log ratio of a factor of seven: an end of an interval that lies there or beyond is open.
inline constexpr double kOpenEnd = 2;

// `ratios[i]` is a pair's log ratio and `scales[i]` the scale that held before it. Estimate: the
// median ratio. The grid widens beyond all that was seen; an end that nothing refutes is open and
// given as 2 or more: seven times faster or slower.
Interval ConfidenceInterval(const std::vector<double>& ratios, const std::vector<double>& scales,
                            double alpha);

// The saving of a step's time that a log ratio means: 1 - exp(-ratio), on estimate and both ends.
Interval SavingOf(const Interval& log_ratio);

// Whether an end of a saving stands for "nothing refutes anything there".
bool IsOpenBelow(const Interval& saving);
bool IsOpenAbove(const Interval& saving);

// "1.2 %", "a factor of seven or more": the size of the saving that a log ratio means, for reasons.
std::string PercentText(double log_ratio);

}  // namespace blazed::planner
