#include "storage/digest_text.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace blazed::storage {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string DigestToHex(const planner::Digest& digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

absl::StatusOr<DigestRange> DigestsByPrefix(std::string_view hex_prefix) {
  DigestRange range;
  range.last.fill(0xff);
  if (hex_prefix.size() > 2 * range.first.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a fingerprint has at most 32 hex digits, got ",
                                                   hex_prefix.size(),
                                                   ": copy it from blazectl graphs"));
  }
  for (size_t i = 0; i < hex_prefix.size(); ++i) {
    const int value = HexValue(hex_prefix[i]);
    if (value < 0) {
      return absl::InvalidArgumentError(
          "a fingerprint is written in hex digits: copy it from blazectl graphs");
    }
    const int shift = i % 2 == 0 ? 4 : 0;
    const auto mask = static_cast<uint8_t>(0xf << shift);
    range.first[i / 2] |= static_cast<uint8_t>(value << shift);
    range.last[i / 2] = static_cast<uint8_t>((range.last[i / 2] & ~mask) | (value << shift));
  }
  return range;
}

}  // namespace blazed::storage
