// Which plan to build next where builds are dear. At first every change has its turn, several in
// one build, on top of the best plan known; then the plan that is expected to bring most beyond it.
#pragma once

#include <functional>

#include "daemon/planner/space.h"
#include "daemon/planner/surrogate.h"

namespace blazed::planner {

// Mean of what a gain drawn from a normal law brings where losses are left aside.
double ExpectedImprovement(double gain, double sd);

struct Prospect {
  Toggles plan;
  double gain = 0;  // expected, in log step time, beyond `best`; 0: nothing is worth a try
};

// The next of the changes that no build has had yet. Most changes cost time and few save some, so a
// group that is too large loses, and one that is too small leaves changes out when the builds are
// spent. `cheap`: toggles whose builds the host guesses to take far less than the usual one; they
// come first, and not together with others. Empty: nothing is known.
Prospect NextGroup(const Space& space, const Surrogate& surrogate, const Toggles& base,
                   const std::vector<size_t>& untried, const Toggles& cheap, uint32_t builds_left);

// Steepest single flips of what the plan is expected to bring.
// `closed`: toggles that stay off. `taken`: plans that are not asked for again.
Prospect BestProspect(const Space& space, const Surrogate& surrogate, const Toggles& best,
                      const std::function<bool(size_t)>& closed,
                      const std::function<bool(const Toggles&)>& taken, uint32_t flips);

// Prior spreads, toggle by toggle, as factors of the usual one: what belongs to the whole step
// moves more than one boundary does, a decision of many sites more than one of few.
std::vector<double> PriorWeights(const Space& space, double sd);

}  // namespace blazed::planner
