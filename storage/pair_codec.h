// Raw pairs of a race as one blob, exact to the bit and compact for whole nanoseconds.
//
// Format 1: a varint count, then for each pair one flag byte and its two step times. Flag bits: 1
// challenger first, 2 excluded, 4 aborted, 8 champion is a whole number, 16 challenger is one. A
// whole number is a varint, any other the 8 little-endian bytes of the double.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/planner/types.h"
#include "storage/records.h"

namespace blazed::storage {

inline constexpr int64_t kPairFormat = 1;

std::string PackPairs(const std::vector<planner::PairSample>& pairs);

// DATA_LOSS for an unknown format or bytes that do not parse to the end.
absl::StatusOr<std::vector<planner::PairSample>> UnpackPairs(int64_t format, std::string_view blob);

// 10 %, 50 % and 90 % points (nearest rank) of each arm over the pairs that counted.
struct ArmQuantiles {
  Quantiles champion, challenger;
};
ArmQuantiles QuantilesOf(const std::vector<planner::PairSample>& pairs);

}  // namespace blazed::storage
