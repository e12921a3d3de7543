// 16 bytes that name something: a fingerprint, a signature, a session token.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace blazed::shim {

using Digest = std::array<uint8_t, 16>;

inline bool IsZero(const Digest& digest) { return digest == Digest{}; }

inline Digest DigestFrom(const uint8_t* bytes) {
  Digest digest;
  std::memcpy(digest.data(), bytes, digest.size());
  return digest;
}

}  // namespace blazed::shim
