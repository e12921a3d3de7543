#include "client/blazectl/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace blazed::blazectl {

std::string Screen::Paint(absl::string_view text, Ink ink) const {
  if (!colour || ink == Ink::kPlain || text.empty()) return std::string(text);
  const char* code = "0";
  switch (ink) {
    case Ink::kPlain:
      break;
    case Ink::kGood:
      code = "32";
      break;
    case Ink::kBad:
      code = "31";
      break;
    case Ink::kFaint:
      code = "2";
      break;
    case Ink::kTitle:
      code = "1";
      break;
  }
  return absl::StrCat("\x1b[", code, "m", text, "\x1b[0m");
}

Screen RealScreen(Colour wanted) {
  Screen screen;
  if (isatty(STDOUT_FILENO) == 0) return screen;
  winsize size{};
  screen.columns = 80;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) screen.columns = size.ws_col;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool refused = (no_color != nullptr && *no_color != '\0') ||
                       (term != nullptr && absl::string_view(term) == "dumb");
  screen.colour = wanted == Colour::kWhereTerminal && !refused;
  return screen;
}

}  // namespace blazed::blazectl
