#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace blazed::trainer {

// Writes `content` to `path` so that a reader or a crash sees all of it or what was there before:
// a temporary file beside it, fsync, rename, fsync of the folder. A symbolic link is followed, and
// its target is what is replaced. A character device, a FIFO and a link into /proc (such as
// /dev/stdout) are never replaced: the content is written into them, behind what is there, and a
// FIFO that nobody reads is an error and no wait. Errors name the file; the caller says them and
// goes on, nothing is left behind.
absl::Status WriteAtomically(const std::string& path, absl::string_view content);

// Finds out before a long run whether `path` can be written: it is a regular file, a stream as
// above, or absent in a folder that takes files. Opens nothing.
absl::Status CheckWritable(const std::string& path);

}  // namespace blazed::trainer
