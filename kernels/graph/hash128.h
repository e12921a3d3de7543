#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace blazed::graph {

// A 128-bit XXH3 hash. Equal in every process, on every machine and at every address, because only
// canonical text or little-endian tensor bytes are ever hashed.
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  friend auto operator<=>(const Hash128&, const Hash128&) = default;

  // 32 lower-case hexadecimal digits, high half first.
  std::string ToHex() const;
};

// Hash of the exact bytes of `text`.
Hash128 HashText(std::string_view text);

}  // namespace blazed::graph
