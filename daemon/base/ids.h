// Tokens, digests and their text form: the only place where they are made and parsed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/planner/types.h"

namespace blazed {

// What a shim shows to come back to its session: 128 random bits.
using SessionToken = std::array<uint8_t, 16>;

// From the kernel's random source. Blocks only before that source is seeded at boot.
SessionToken MakeToken();
uint64_t MakeSeed();

// Nothing unless `bytes` has exactly 16.
std::optional<std::array<uint8_t, 16>> ParseBytes16(std::string_view bytes);
std::string ToBytes(const std::array<uint8_t, 16>& value);

// Lower-case hex, 32 digits.
std::string ToHex(const std::array<uint8_t, 16>& value);

bool IsZero(const std::array<uint8_t, 16>& value);

}  // namespace blazed
