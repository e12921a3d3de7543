// Raw pairs of a race as one blob, exact to the bit and compact for whole nanoseconds.
//
// Format 2: a varint count, then for each pair a varint of flags, a varint of the pair's events,
// the session that gave the pair to another one's race, its two step times by the host's clock, the
// two by the device's. Flag bits: 1 challenger first, 2 excluded, 4 aborted, 8 champion is a whole
// number, 16 challenger is one, 32 there are events, 64 there is a session, 128 there are device
// times, 256 and 512 the same as 8 and 16 of those. A whole number is a varint, any other the 8
// little-endian bytes of the double. Format 1 had one byte of the flags up to 16, and is read too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/planner/types.h"
#include "storage/records.h"

namespace blazed::storage {

inline constexpr int64_t kPairFormat = 2;

std::string PackPairs(const std::vector<planner::PairSample>& pairs);

// DATA_LOSS for an unknown format or bytes that do not parse to the end.
absl::StatusOr<std::vector<planner::PairSample>> UnpackPairs(int64_t format, std::string_view blob);

// 10 %, 50 % and 90 % points (nearest rank) of each arm over the pairs that counted.
struct ArmQuantiles {
  Quantiles champion, challenger;
};
ArmQuantiles QuantilesOf(const std::vector<planner::PairSample>& pairs);

}  // namespace blazed::storage
