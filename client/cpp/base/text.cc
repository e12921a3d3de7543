#include "client/cpp/base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace blazed::shim {
namespace {

// The code points that a sequence of so many bytes may stand for: none that fewer could, no half of
// a pair of UTF-16, and none beyond the last.
bool Fits(uint32_t point, size_t length) {
  constexpr uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
  return point >= kFirst[length] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

// Bytes of the character of UTF-8 that `text` begins with; 0 where it begins with none.
size_t CharacterAt(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  uint32_t point = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte & 0x3fu);
  }
  return Fits(point, length) ? length : 0;
}

}  // namespace

std::string Bounded(std::string_view text, size_t limit) {
  size_t end = std::min(text.size(), limit);
  if (end < text.size()) {
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  }
  std::string out(text.substr(0, end));
  for (size_t at = 0; at < out.size();) {
    const size_t length = CharacterAt(std::string_view(out).substr(at));
    if (length == 0) out[at] = '?';
    at += std::max<size_t>(length, 1);
  }
  return out;
}

std::string Printable(std::string_view text, size_t limit) {
  std::string out = Bounded(text, limit);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

bool IsPlainName(const char* text, size_t limit) {
  if (text == nullptr) return false;
  const size_t length = strnlen(text, limit + 1);
  if (length == 0 || length > limit) return false;
  for (size_t i = 0; i < length; ++i) {
    if (text[i] < 0x20 || text[i] > 0x7e) return false;
  }
  return true;
}

}  // namespace blazed::shim
