// Bounds of what clients send. Each check answers OK or one sentence that names the field and its
// limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/planner/types.h"

namespace blazed::rpc {

// At most `most` bytes of UTF-8 without control characters, those of Unicode that turn the
// direction of text among them.
absl::Status CheckText(std::string_view field, std::string_view text, size_t most);

// `least` to `most` bytes of printable ASCII.
absl::Status CheckName(std::string_view field, std::string_view text, size_t least, size_t most);

absl::StatusOr<planner::Digest> CheckDigest(std::string_view field, std::string_view bytes);

// Zero or larger, not NaN. Infinity is an honest answer where the numbers are broken.
absl::Status CheckReal(std::string_view field, double value);

absl::Status CheckCount(std::string_view field, uint64_t value, uint64_t least, uint64_t most);

}  // namespace blazed::rpc
