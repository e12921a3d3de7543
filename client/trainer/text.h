#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace blazed::trainer {

// The most text a job reads: beyond it more characters teach a demo-sized model nothing and only
// cost memory.
inline constexpr int64_t kMaxTextBytes = int64_t{64} << 20;

// The texts Debian ships, read when no --text is given.
inline constexpr char kDefaultTextFolder[] = "/usr/share/common-licenses";

// Regular files of `folder`, sorted by name, symbolic links left out because they would repeat a
// text. NOT_FOUND when the folder is missing or holds none: name a text instead.
absl::StatusOr<std::vector<std::string>> TextsIn(const std::string& folder);

// All files of `paths` joined in the order given, one line break between two. Errors name the file
// and the caller's move: NOT_FOUND (no such file), FAILED_PRECONDITION (a folder, a device, an
// empty text), PERMISSION_DENIED, RESOURCE_EXHAUSTED (more than kMaxTextBytes in all). None is
// INVALID_ARGUMENT: the flag was right, what lies there was not.
absl::StatusOr<std::string> ReadTexts(const std::vector<std::string>& paths);

}  // namespace blazed::trainer
