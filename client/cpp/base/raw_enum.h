// An enumeration that came from a C caller or off the wire may hold a value without a name, and in
// C++ reading such a value as the enumeration is undefined. As a number it is well defined.
#pragma once

#include <cstdint>
#include <cstring>

namespace blazed::shim {

template <typename Enum>
uint32_t RawEnum(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(uint32_t));
  uint32_t raw;
  std::memcpy(&raw, &value, sizeof raw);
  return raw;
}

}  // namespace blazed::shim
