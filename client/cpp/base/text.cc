#include "client/cpp/base/text.h"

#include <cstring>

namespace blazed::shim {

std::string Bounded(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
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
