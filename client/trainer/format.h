#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace blazed::trainer {

// Numbers for people, three significant digits where that is enough.

// "8.412 ms", "913 us", "2.1 s".
std::string StepTimeText(double nanoseconds);

// "0.4 s", "32 s", "4 min 12 s", "2 h 5 min". Negative reads as zero.
std::string DurationText(absl::Duration duration);
std::string SecondsText(double seconds);

// "1,234,567".
std::string CountText(int64_t count);

// "1 build", "1,234 builds", "2 boundaries".
std::string Counted(int64_t count, absl::string_view noun);

// A fraction as "5.8 %"; signed shows a plus as well.
enum class Sign { kPlain, kSigned };
std::string PercentText(double fraction, Sign sign = Sign::kPlain);

// An interval of a saving: "between 3.9 % and 8.9 %", "at least 3.9 %", "at most 8.9 %". An end at
// a factor of seven or beyond is open (docs/measurement.md) and has no number.
std::string RangeText(double low, double high);

// Columns that `text` takes on a terminal: code points, since nothing here prints wide ones.
int TextColumns(absl::string_view text);

// `text` cut to at most `columns`, the last one a "~" where something was lost. Control
// characters become "?" so that a name from elsewhere cannot steer the terminal.
std::string Fit(absl::string_view text, int columns);

// Fit, then filled with spaces.
enum class Align { kLeft, kRight };
std::string Pad(absl::string_view text, int columns, Align align = Align::kLeft);

// `text` broken between words into lines of at most `columns`; a longer word is broken as it is.
std::string Wrap(absl::string_view text, int columns, absl::string_view indent);

}  // namespace blazed::trainer
