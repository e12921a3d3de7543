// An interval on a common scale, in characters: "....|..[=o=].." has nothing left of the middle, so
// the saving is real.
#pragma once

#include <string>

namespace blazed::blazectl {

// `scale` is what the bar's half length stands for; `cells` is odd and at least 5. Values beyond
// the scale are drawn at its edge as '<' or '>'.
std::string IntervalBar(double estimate, double low, double high, double scale, int cells = 21);

}  // namespace blazed::blazectl
