// What the output can show: its width, and whether it takes colour.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "client/blazectl/options.h"

namespace blazed::blazectl {

enum class Ink { kPlain, kGood, kBad, kFaint, kTitle };

struct Screen {
  size_t columns = 0;  // 0: the output is a file or a pipe
  bool colour = false;

  // `text` in this ink, or unchanged where the output takes no colour.
  std::string Paint(absl::string_view text, Ink ink) const;
};

// stdout as it is. NO_COLOR and TERM=dumb mean no colour, as elsewhere.
Screen RealScreen(Colour wanted);

}  // namespace blazed::blazectl
