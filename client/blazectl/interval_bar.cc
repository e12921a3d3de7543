#include "client/blazectl/interval_bar.h"

#include <algorithm>
#include <cmath>

namespace blazed::blazectl {

std::string IntervalBar(double estimate, double low, double high, double scale, int cells) {
  std::string bar(static_cast<size_t>(cells), '.');
  const int middle = cells / 2;
  bar[static_cast<size_t>(middle)] = '|';
  // An end may be infinite; a comparison with what is no number is false.
  if (!std::isfinite(estimate) || !(scale > 0) || !(low <= high)) return bar;
  const auto place = [&](double value) {
    const double at = std::round(value / scale * middle) + middle;
    return static_cast<int>(std::clamp(at, 0.0, static_cast<double>(cells - 1)));
  };
  const int from = place(low), to = place(high);
  for (int i = from; i <= to; ++i) bar[static_cast<size_t>(i)] = '=';
  bar[static_cast<size_t>(from)] = low < -scale ? '<' : '[';
  bar[static_cast<size_t>(to)] = high > scale ? '>' : ']';
  if (std::fabs(estimate) <= scale) {
    bar[static_cast<size_t>(std::clamp(place(estimate), from, to))] = 'o';
  }
  return bar;
}

}  // namespace blazed::blazectl
