#include "client/cpp/engine/device_key.h"

#include <algorithm>

namespace blazed::shim {
namespace {

// Whatever the host's locale says.
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

constexpr std::string_view kForm = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
constexpr size_t kUuidSize = kForm.size();

bool IsUuid(std::string_view text) {
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (kForm[i] == '-' ? c != '-' : !hex) return false;
  }
  return true;
}

// The part of a GPU that drivers before R470 name by numbers: "/1/0".
bool IsInstance(std::string_view text) {
  const size_t second = text.rfind('/');
  if (text.empty() || text[0] != '/' || second == 0) return false;
  for (const std::string_view number : {text.substr(1, second - 1), text.substr(second + 1)}) {
    if (number.empty() || number.size() > 2 || (number.size() > 1 && number[0] == '0')) {
      return false;
    }
    for (const char c : number) {
      if (c < '0' || c > '9') return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> DeviceKey(std::string_view text) {
  std::string key(text);
  for (char& c : key) c = Lower(c);
  if (key == "cpu") return key;
  for (const std::string_view prefix : {"mig-gpu-", "mig-", "gpu-"}) {
    if (key.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string_view rest = std::string_view(key).substr(prefix.size());
    const std::string_view behind = rest.substr(std::min(rest.size(), kUuidSize));
    if (!IsUuid(rest.substr(0, kUuidSize))) continue;
    if (!behind.empty() && !(prefix == "mig-gpu-" && IsInstance(behind))) continue;
    for (size_t i = 0; i < prefix.size(); ++i) key[i] = Upper(key[i]);
    return key;
  }
  return std::nullopt;
}

}  // namespace blazed::shim
