#include "client/trainer/report/interval_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "client/trainer/format.h"

namespace blazed::trainer {
namespace {

constexpr int kLabelColumns = 10;
constexpr int kWidestPlot = 72;
constexpr int kNarrowestPlot = 24;
constexpr int kColumnsPerTick = 10;
constexpr double kReach = 4;  // how far an end is drawn, in estimates
constexpr double kLeastReach = 0.02;

// Maps a saving to a column of the plot.
struct Scale {
  double low = 0;
  double high = 0;
  int columns = 0;

  size_t At(double saving) const {
    const double share = (saving - low) / (high - low);
    const auto column = static_cast<int>(std::lround(share * (columns - 1)));
    return static_cast<size_t>(std::clamp(column, 0, columns - 1));
  }
};

// The smallest of 1, 2, 5 times a power of ten that keeps ticks apart enough to be labelled.
double TickStep(const Scale& scale) {
  const double least = (scale.high - scale.low) * kColumnsPerTick / scale.columns;
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= least) return factor * decade;
  }
  return 10 * decade;
}

// The gain with its ends held near the estimate.
Gain Held(const Gain& gain) {
  const double reach = std::max(kLeastReach, kReach * std::fabs(gain.estimate));
  return {gain.estimate, std::max(gain.low, std::min(0.0, gain.estimate) - reach),
          std::min(gain.high, std::max(0.0, gain.estimate) + reach)};
}

void Axis(const Scale& scale, std::string* line, std::string* labels) {
  line->assign(static_cast<size_t>(scale.columns), '-');
  labels->clear();
  const double step = TickStep(scale);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step * 100) + 1e-9)));
  for (double tick = std::ceil(scale.low / step - 1e-9) * step; tick <= scale.high + step * 1e-9;
       tick += step) {
    const double shown = std::fabs(tick) < step / 2 ? 0.0 : tick;
    const size_t column = scale.At(shown);
    const std::string label = absl::StrFormat("%.*f %%", decimals, shown * 100);
    if (column + label.size() > static_cast<size_t>(scale.columns)) break;
    (*line)[column] = '+';
    labels->resize(std::max(labels->size(), column), ' ');
    if (labels->size() == column) absl::StrAppend(labels, label);
  }
}

}  // namespace

std::string IntervalPlot(const Gain& full, int columns, absl::string_view indent) {
  const int room = columns - static_cast<int>(indent.size()) - kLabelColumns;
  const Gain gain = Held(full);
  Scale scale{std::min({0.0, gain.low, gain.estimate}), std::max({0.0, gain.high, gain.estimate}),
              std::clamp(room, kNarrowestPlot, kWidestPlot)};
  const double span = scale.high - scale.low;
  if (!std::isfinite(span) || span <= 0) return "";
  if (scale.low < 0) scale.low -= span * 0.05;
  scale.high += span * 0.15;

  const size_t zero = scale.At(0);
  std::string first(zero + 1, ' ');
  first[zero] = '|';
  std::string second(static_cast<size_t>(scale.columns), ' ');
  second[zero] = '|';
  const size_t low = scale.At(gain.low);
  const size_t high = scale.At(gain.high);
  for (size_t at = low; at <= high; ++at) second[at] = '-';
  second[low] = gain.low > full.low ? '<' : '[';
  second[high] = gain.high < full.high ? '>' : ']';
  second[scale.At(gain.estimate)] = '*';
  second.resize(second.find_last_not_of(' ') + 1);

  std::string axis;
  std::string labels;
  Axis(scale, &axis, &labels);
  return absl::StrCat(indent, Pad("default", kLabelColumns), first, "\n",  //
                      indent, Pad("champion", kLabelColumns), second, "\n", indent,
                      Pad("", kLabelColumns), axis, "\n",  //
                      indent, Pad("", kLabelColumns), labels, "\n");
}

}  // namespace blazed::trainer
