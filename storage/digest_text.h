// Digests as people write them: lower-case hex, or the first digits of it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/planner/types.h"

namespace blazed::storage {

std::string DigestToHex(const planner::Digest& digest);

// All digests whose hex begins with the prefix lie in [first, last].
struct DigestRange {
  planner::Digest first{}, last{};
  bool Contains(const planner::Digest& digest) const { return first <= digest && digest <= last; }
};

// INVALID_ARGUMENT for more than 32 digits or anything but hex. The empty prefix is the full range.
absl::StatusOr<DigestRange> DigestsByPrefix(std::string_view hex_prefix);

}  // namespace blazed::storage
