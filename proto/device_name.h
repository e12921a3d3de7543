// How devices are named on the wire (Hello.device): what hosts bring into this form and the daemon
// takes. It keeps a lock and a line of turns by the name, so one device has one spelling, that of
// drivers. The shim carries no library with it, so this needs the standard one alone.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace blazed {

// Of everything but the CPU; longer ones before those that they begin with.
inline constexpr std::array<std::string_view, 3> kDevicePrefixes = {"MIG-GPU-", "MIG-", "GPU-"};

// 8-4-4-4-12 lower-case hex digits.
constexpr bool IsDeviceUuid(std::string_view text) {
  constexpr std::string_view kForm = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  return std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), [](char c, char form) {
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    return form == '-' ? c == '-' : hex;
  });
}

// The part of a GPU that drivers before R470 name by numbers, GPU instance and compute instance:
// "/1/0".
constexpr bool IsDeviceInstance(std::string_view text) {
  const size_t second = text.rfind('/');
  if (text.empty() || text[0] != '/' || second == 0) return false;
  for (const std::string_view number : {text.substr(1, second - 1), text.substr(second + 1)}) {
    if (number.empty() || number.size() > 2 || (number.size() > 1 && number[0] == '0')) {
      return false;
    }
    if (number.find_first_not_of("0123456789") != std::string_view::npos) return false;
  }
  return true;
}

// "cpu", or a prefix and a UUID; behind that of "MIG-GPU-" an instance may follow.
constexpr bool IsDeviceName(std::string_view text) {
  constexpr size_t kUuidSize = 36;
  for (const std::string_view prefix : kDevicePrefixes) {
    if (text.substr(0, prefix.size()) != prefix) continue;
    const std::string_view rest = text.substr(prefix.size());
    const std::string_view behind = rest.substr(std::min(rest.size(), kUuidSize));
    return IsDeviceUuid(rest.substr(0, kUuidSize)) &&
           (behind.empty() || (prefix == "MIG-GPU-" && IsDeviceInstance(behind)));
  }
  return text == "cpu";
}

}  // namespace blazed
