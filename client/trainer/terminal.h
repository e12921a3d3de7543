#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace blazed::trainer {

// How a stream is written to.
enum class Display {
  kLive,   // a terminal that understands cursor movement: lines are redrawn in place
  kPlain,  // a file, a pipe or TERM=dumb: one line after another
};

Display DisplayOf(int fd);

// Columns of the terminal behind `fd`; `otherwise` where it is none or does not say.
int ColumnsOf(int fd, int otherwise);

// Writes all of `text` in as few calls as the kernel allows. A reader that went away is no error:
// the job goes on. False where text was lost for another reason, errno says which.
bool WriteText(int fd, absl::string_view text);

// Writes to standard output; UNAVAILABLE, with the caller's move, where text was lost.
absl::Status PrintText(absl::string_view text);

// Hides and shows the cursor of a live terminal. A hidden one is shown again by a second signal as
// well (signals.h), so that no way out leaves it hidden.
void HideCursor(int fd);
void ShowCursor(int fd);

// For signal handlers: shows a cursor that HideCursor left hidden. Async-signal-safe.
void ShowCursorFromSignal();

}  // namespace blazed::trainer
