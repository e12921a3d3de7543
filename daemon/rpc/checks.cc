#include "daemon/rpc/checks.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "daemon/base/ids.h"

namespace blazed::rpc {
namespace {

std::string Text(std::string_view view) { return std::string(view); }

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
