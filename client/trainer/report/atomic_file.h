#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace blazed::trainer {

// Writes `content` to `path` so that a reader or a crash sees all of it or what was there before:
// a temporary file beside it, fsync, rename, fsync of the folder. Errors name the file; the caller
// says them and goes on, nothing is left behind.
absl::Status WriteAtomically(const std::string& path, absl::string_view content);

// Finds out before a long run whether `path` can be written: its folder exists and takes files.
absl::Status CheckWritable(const std::string& path);

}  // namespace blazed::trainer
