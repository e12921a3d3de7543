#include "daemon/base/ids.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <algorithm>

namespace blazed {
namespace {

// A daemon without randomness must not hand out guessable tokens, so this ends the program.
void FillRandom(void* out, size_t size) {
  ssize_t got;
  do {
    got = getrandom(out, size, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(size)) {
    perror("blazed: getrandom");
    abort();
  }
}

}  // namespace

SessionToken MakeToken() {
  SessionToken token;
  FillRandom(token.data(), token.size());
  return token;
}

uint64_t MakeSeed() {
  uint64_t seed = 0;
  FillRandom(&seed, sizeof(seed));
  return seed;
}

std::optional<std::array<uint8_t, 16>> ParseBytes16(std::string_view bytes) {
  std::array<uint8_t, 16> value;
  if (bytes.size() != value.size()) return std::nullopt;
  memcpy(value.data(), bytes.data(), value.size());
  return value;
}

std::string ToBytes(const std::array<uint8_t, 16>& value) {
  return std::string(reinterpret_cast<const char*>(value.data()), value.size());
}

std::string ToHex(const std::array<uint8_t, 16>& value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * value.size());
  for (uint8_t byte : value) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

bool IsZero(const std::array<uint8_t, 16>& value) {
  return std::all_of(value.begin(), value.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace blazed
