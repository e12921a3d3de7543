#include "client/trainer/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace blazed::trainer {
namespace {

constexpr absl::string_view kHide = "\x1b[?25l";
constexpr absl::string_view kShow = "\x1b[?25h";
constexpr int kNone = -1;

// The descriptor whose cursor is hidden. Lock-free, for the signal handler's sake.
std::atomic<int> hidden_on{kNone};
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

Display DisplayOf(int fd) {
  const char* name = std::getenv("TERM");
  const bool dumb = name == nullptr || *name == '\0' || absl::string_view(name) == "dumb";
  return isatty(fd) != 0 && !dumb ? Display::kLive : Display::kPlain;
}

int ColumnsOf(int fd, int otherwise) {
  winsize size = {};
  if (isatty(fd) == 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return size.ws_col;
}

bool WriteText(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd waiting = {fd, POLLOUT, 0};
      poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return errno == EPIPE;
    }
  }
  return true;
}

absl::Status PrintText(absl::string_view text) {
  if (WriteText(STDOUT_FILENO, text)) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot write to standard output: ", std::strerror(errno),
                   "; free space there or send it elsewhere"));
}

void HideCursor(int fd) {
  hidden_on.store(fd);
  WriteText(fd, kHide);
}

void ShowCursor(int fd) {
  WriteText(fd, kShow);
  hidden_on.store(kNone);
}

void ShowCursorFromSignal() {
  const int fd = hidden_on.load();
  if (fd == kNone) return;
  [[maybe_unused]] const ssize_t ignored = write(fd, kShow.data(), kShow.size());
}

}  // namespace blazed::trainer
