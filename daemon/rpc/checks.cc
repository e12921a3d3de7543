#include "daemon/rpc/checks.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "daemon/base/ids.h"

namespace blazed::rpc {
namespace {

std::string Text(std::string_view view) { return std::string(view); }

bool IsBetween(std::string_view text, size_t at, unsigned char first, unsigned char last) {
  if (at >= text.size()) return false;
  const auto byte = static_cast<unsigned char>(text[at]);
  return byte >= first && byte <= last;
}

// The control characters of Unicode beyond ASCII that a terminal obeys, by their bytes in UTF-8:
// U+0080 to 009F, and those of direction and line: 061C, 200E, 200F, 2028 to 202E, 2066 to 2069.
bool HoldsUnseen(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (rest[0] == '\xc2' && IsBetween(rest, 1, 0x80, 0x9f)) return true;
    if (rest.substr(0, 2) == "\xd8\x9c") return true;
    const bool direction = IsBetween(rest, 2, 0x8e, 0x8f) || IsBetween(rest, 2, 0xa8, 0xae);
    if (rest.substr(0, 2) == "\xe2\x80" && direction) return true;
    if (rest.substr(0, 2) == "\xe2\x81" && IsBetween(rest, 2, 0xa6, 0xa9)) return true;
  }
  return false;
}

}  // namespace

absl::Status CheckText(std::string_view field, std::string_view text, size_t most) {
  if (text.size() > most) {
    return absl::InvalidArgumentError(
        absl::StrCat(Text(field), " has ", text.size(), " bytes; send at most ", most));
  }
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
  });
  if (control) {
    return absl::InvalidArgumentError(absl::StrCat(Text(field), " holds control bytes; send text"));
  }
  if (HoldsUnseen(text)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Text(field), " holds characters that change how the text around them is shown; send text"));
  }
  return absl::OkStatus();
}

absl::Status CheckName(std::string_view field, std::string_view text, size_t least, size_t most) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c < 0x7f; });
  if (text.size() < least || text.size() > most || !printable) {
    return absl::InvalidArgumentError(absl::StrCat(Text(field), " must be ", least, " to ", most,
                                                   " bytes of printable ASCII; got ", text.size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<planner::Digest> CheckDigest(std::string_view field, std::string_view bytes) {
  if (std::optional<planner::Digest> digest = ParseBytes16(bytes)) return *digest;
  return absl::InvalidArgumentError(
      absl::StrCat(Text(field), " has ", bytes.size(), " bytes; a digest has 16"));
}

absl::Status CheckReal(std::string_view field, double value) {
  if (std::isnan(value) || value < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Text(field), " is ", value, "; send a number of at least 0"));
  }
  return absl::OkStatus();
}

absl::Status CheckCount(std::string_view field, uint64_t value, uint64_t least, uint64_t most) {
  if (value < least || value > most) {
    return absl::InvalidArgumentError(
        absl::StrCat(Text(field), " is ", value, "; it must be between ", least, " and ", most));
  }
  return absl::OkStatus();
}

}  // namespace blazed::rpc
