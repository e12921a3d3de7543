#include "client/trainer/format.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace blazed::trainer {
namespace {

constexpr double kOpenLogRatio = 2;

bool StartsCodePoint(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Bytes of the first `columns` code points.
size_t BytesOf(absl::string_view text, int columns) {
  size_t at = 0;
  while (at < text.size()) {
    if (StartsCodePoint(text[at])) {
      if (columns == 0) break;
      --columns;
    }
    ++at;
  }
  return at;
}

std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  if (size >= 100) return absl::StrFormat("%.0f", value);
  if (size >= 10) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.2f", value);
}

}  // namespace

std::string StepTimeText(double nanoseconds) {
  if (!std::isfinite(nanoseconds) || nanoseconds <= 0) return "-";
  if (nanoseconds < 1e3) return absl::StrFormat("%.0f ns", nanoseconds);
  if (nanoseconds < 1e6) return absl::StrCat(ThreeDigits(nanoseconds / 1e3), " us");
  if (nanoseconds < 1e9) return absl::StrFormat("%.3f ms", nanoseconds / 1e6);
  return absl::StrFormat("%.3f s", nanoseconds / 1e9);
}

std::string SecondsText(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  seconds = std::max(0.0, seconds);
  if (seconds < 0.0995) return absl::StrFormat("%.0f ms", seconds * 1e3);
  if (seconds < 9.95) return absl::StrFormat("%.1f s", seconds);
  const int64_t whole = std::llround(std::min(seconds, 1e12));
  if (whole < 120) return absl::StrCat(whole, " s");
  if (whole < 7200) return absl::StrCat(whole / 60, " min ", whole % 60, " s");
  return absl::StrCat(CountText(whole / 3600), " h ", whole % 3600 / 60, " min");
}

std::string DurationText(absl::Duration duration) {
  return SecondsText(absl::ToDoubleSeconds(duration));
}

std::string CountText(int64_t count) {
  std::string digits = absl::StrCat(count);
  const size_t sign = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string Counted(int64_t count, absl::string_view noun) {
  std::string text = absl::StrCat(CountText(count), " ", noun);
  if (count == 1) return text;
  if (text.back() != 'y') return text + "s";
  text.pop_back();
  return text + "ies";
}

std::string PercentText(double fraction, Sign sign) {
  if (!std::isfinite(fraction)) return "-";
  const double percent = fraction * 100;
  const bool fine = std::fabs(percent) < 0.095;
  std::string text = fine ? absl::StrFormat("%.2f", percent) : absl::StrFormat("%.1f", percent);
  if (text == "-0.00") text = "0.00";
  if (sign == Sign::kSigned && text[0] != '-') text.insert(0, 1, '+');
  return text + " %";
}

std::string RangeText(double low, double high) {
  // Written so that what is no number is open.
  const bool below = !(low > 1 - std::exp(kOpenLogRatio));
  const bool above = !(high < 1 - std::exp(-kOpenLogRatio));
  if (below && above) return "not bounded on either side";
  if (below) return absl::StrCat("at most ", PercentText(high));
  if (above) return absl::StrCat("at least ", PercentText(low));
  return absl::StrCat("between ", PercentText(low), " and ", PercentText(high));
}

int TextColumns(absl::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), StartsCodePoint));
}

std::string Fit(absl::string_view text, int columns) {
  if (columns <= 0) return "";
  std::string out(text);
  for (char& byte : out) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(byte))) byte = '?';
  }
  if (TextColumns(out) <= columns) return out;
  out.resize(BytesOf(out, columns - 1));
  out.push_back('~');
  return out;
}

std::string Pad(absl::string_view text, int columns, Align align) {
  std::string out = Fit(text, columns);
  const std::string fill(static_cast<size_t>(std::max(0, columns - TextColumns(out))), ' ');
  return align == Align::kLeft ? out + fill : fill + out;
}

std::string Wrap(absl::string_view text, int columns, absl::string_view indent) {
  columns = std::max(columns, 8);
  std::vector<std::string> lines(1);
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    while (TextColumns(word) > columns) {
      const size_t bytes = BytesOf(word, columns);
      if (!lines.back().empty()) lines.emplace_back();
      lines.back() = std::string(word.substr(0, bytes));
      word.remove_prefix(bytes);
    }
    if (lines.back().empty()) {
      lines.back() = std::string(word);
    } else if (TextColumns(lines.back()) + 1 + TextColumns(word) <= columns) {
      absl::StrAppend(&lines.back(), " ", word);
    } else {
      lines.emplace_back(word);
    }
  }
  std::string out;
  for (const std::string& line : lines) absl::StrAppend(&out, indent, line, "\n");
  return out;
}

}  // namespace blazed::trainer
