// Before the first trial: what tuning will take here and what it can resolve, in wall time.
#pragma once

#include <vector>

#include "daemon/planner/profile.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

// What a pair of two plans is expected to lose, in steps: of proposals, as fitted.
inline constexpr double kRegretStepsOfAPair = 0.025;

// `pairs` champion-against-itself pairs gave the noise in `here`; `earlier` are the searches that
// the store remembers, of any size.
ForecastRecord MakeForecast(const Surroundings& here, const SearchProfile& profile, uint64_t pairs,
                            const std::vector<EarlierSearch>& earlier = {});

}  // namespace blazed::planner
