// A 128-bit digest of a set of (tensor, index, bits) triples that does not depend on the order in
// which they are added: a sum modulo 2^128 of well mixed terms. Parts may be computed apart and
// added. It names what was computed; it is no defence against a forger.
#pragma once

#include <array>
#include <cstdint>

namespace blazed::equivalence {

class Digest128 {
 public:
  void Add(uint32_t tensor, uint64_t index, uint64_t bits) {
    // Two independent mixes (finaliser "Mix13" of D. Stafford, "Better bit mixing", 2011) of one
    // injective-enough combination; odd constants from the golden ratio and sqrt(2).
    const uint64_t place =
        index * 0x9e3779b97f4a7c15u + (uint64_t{tensor} + 1) * 0xb504f333f9de6485u;
    const uint64_t first = Mix(place ^ Mix(bits + 0x2545f4914f6cdd1du));
    const uint64_t second = Mix(first + bits * 0xd1342543de82ef95u + place);
    AddWords(first, second);
  }
  void Add(const Digest128& other) { AddWords(other.low_, other.high_); }

  // Little-endian, low word first; all zero for nothing added.
  std::array<uint8_t, 16> Bytes() const;

  friend bool operator==(const Digest128&, const Digest128&) = default;

 private:
  static uint64_t Mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  void AddWords(uint64_t low, uint64_t high) {
    low_ += low;
    high_ += high + (low_ < low ? 1 : 0);
  }

  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

}  // namespace blazed::equivalence
