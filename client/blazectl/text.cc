#include "client/blazectl/text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace blazed::blazectl {
namespace {

// Three digits that mean something: 1.23, 12.3, 123.
std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  if (size < 9.995) return absl::StrFormat("%.2f", value);
  if (size < 99.95) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.0f", value);
}

std::string LongDuration(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return absl::StrCat(whole / 60, " min ", whole % 60, " s");
  if (whole < 48 * 3600) return absl::StrCat(whole / 3600, " h ", whole % 3600 / 60, " min");
  return absl::StrCat(whole / 86400, " d ", whole % 86400 / 3600, " h");
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no character begins here
};

// By the length that the first byte announces; what is longer than it need be is no character.
Character FirstCharacter(absl::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  uint32_t code = first & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[bytes] || code > 0x10FFFF || surrogate ? Character{}
                                                              : Character{code, bytes};
}

// Control characters, those that turn the direction of writing or break a line, and those that
// take no place, so that two different names could look alike.
bool ChangesATerminal(uint32_t code) {
  const auto within = [code](uint32_t first, uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0xAD || code == 0x61C || code == 0x180E ||
         within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) ||
         code == 0xFEFF || within(0xFFF9, 0xFFFB) || within(0xE0000, 0xE007F);
}

}  // namespace

std::string DurationText(double ns) {
  if (!std::isfinite(ns)) return "-";
  const double size = std::fabs(ns);
  if (size < 999.5) return absl::StrFormat("%.0f ns", ns);
  if (size < 999.5e3) return ThreeDigits(ns / 1e3) + " us";
  if (size < 999.5e6) return ThreeDigits(ns / 1e6) + " ms";
  if (size < 119.5e9) return ThreeDigits(ns / 1e9) + " s";
  if (size > 1e18) return "ages";
  return LongDuration(ns / 1e9);
}

std::string BytesText(uint64_t bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return absl::StrCat(ThreeDigits(value), " ", kUnits[unit]);
}

std::string PercentText(double share) {
  if (!std::isfinite(share)) return "-";
  const double percent = share * 100;
  return absl::StrFormat("%.*f %%", std::fabs(percent) < 0.995 ? 2 : 1, percent);
}

std::string AgoText(int64_t unix_ns, absl::Time now) {
  if (unix_ns == 0) return "";
  const int64_t seconds = absl::ToInt64Seconds(now - absl::FromUnixNanos(unix_ns));
  if (seconds < 2) return "just now";
  if (seconds < 120) return absl::StrCat(seconds, " s ago");
  if (seconds < 7200) return absl::StrCat(seconds / 60, " min ago");
  if (seconds < 48 * 3600) return absl::StrCat(seconds / 3600, " h ago");
  return absl::StrCat(seconds / 86400, " d ago");
}

std::string ShortHex(absl::string_view hex) { return std::string(hex.substr(0, 12)); }

std::string Clean(absl::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Character next = FirstCharacter(text);
    if (next.bytes == 0 || ChangesATerminal(next.code)) {
      clean.append(std::max<size_t>(next.bytes, 1), '?');
    } else {
      clean.append(text.data(), next.bytes);
    }
    text.remove_prefix(std::max<size_t>(next.bytes, 1));
  }
  return clean;
}

size_t Columns(absl::string_view text) {
  size_t columns = 0;
  for (char c : text) columns += IsContinuation(c) ? 0 : 1;
  return columns;
}

std::string Shortened(absl::string_view text, size_t columns) {
  if (Columns(text) <= columns) return std::string(text);
  const size_t kept = columns > 3 ? columns - 3 : 0;
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && seen++ == kept) break;
  }
  return absl::StrCat(text.substr(0, end), absl::string_view("...").substr(0, columns));
}

std::string Counted(uint64_t n, absl::string_view noun) {
  return absl::StrCat(n, " ", noun, n == 1 ? "" : "s");
}

std::string StepsText(double steps) {
  if (!(steps >= 0)) return "-";
  return Counted(static_cast<uint64_t>(std::min(std::nearbyint(steps), 9e15)), "step");
}

}  // namespace blazed::blazectl
