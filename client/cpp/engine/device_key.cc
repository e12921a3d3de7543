#include "client/cpp/engine/device_key.h"

#include "proto/device_name.h"

namespace blazed::shim {
namespace {

// Whatever the host's locale says.
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<std::string> DeviceKey(std::string_view text) {
  std::string key(text);
  for (char& c : key) c = Lower(c);
  for (const std::string_view prefix : kDevicePrefixes) {
    std::string spelled(prefix);
    for (char& c : spelled) c = Lower(c);
    if (key.compare(0, prefix.size(), spelled) != 0) continue;
    key.replace(0, prefix.size(), prefix);
    break;
  }
  return IsDeviceName(key) ? std::optional(key) : std::nullopt;
}

}  // namespace blazed::shim
