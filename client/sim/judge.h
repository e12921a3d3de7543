// Figures against their bars, each judged with its error.
#pragma once

#include <string>
#include <vector>

#include "client/sim/scenarios.h"

namespace blazed::sim {

enum class Standing {
  kWithin,       // the figure reaches its bar, and so does all of its interval
  kNotShown,     // the figure does, but not all of its interval: as many runs cannot show it
  kWithinError,  // it does not, but the better end of its interval does: more runs would tell
  kMissed,       // not even that end does
  kNoData,       // a row has the figure, but nothing to take it from, as in 0 of 0
  kNotRun,       // no row has the figure, for example because of --boundaries
};

const char* NameOf(Standing standing);  // in words

struct Finding {
  Standing standing = Standing::kNotRun;
  std::string text;  // one line: what was measured, the bar, how they stand
};

// One finding for each bar and each row that it holds for.
std::vector<Finding> Judge(const Scenario& scenario, const std::vector<Row>& rows);

// Whether --check fails on it. What nothing was measured for has not been reached either.
bool Fails(Standing standing);

// The bar in words, as help and findings give it.
std::string TextOf(const Bar& bar);

}  // namespace blazed::sim
