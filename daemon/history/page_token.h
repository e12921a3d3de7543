// Places in a list, handed to clients as opaque text.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace blazed::history {

// Below which row the next page begins; `list` keeps a token of one list out of another.
std::string MakePageToken(const std::string& list, int64_t before);

// 0 for the empty token. INVALID_ARGUMENT for anything this daemon would not have made.
absl::StatusOr<int64_t> ReadPageToken(const std::string& list, const std::string& token);

}  // namespace blazed::history
