// One element of each type: its bits in one class per value, its value, its place on the ulp scale.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace blazed::equivalence {

enum class Class { kFinite, kPositiveInf, kNegativeInf, kNan };

// IEEE-like format of `kBits` bits with `kFraction` fraction bits, held in `Word`.
template <typename WordType, int kBits, int kFraction>
struct FloatFormat {
  using Word = WordType;
  static constexpr bool kIsFloat = true;
  static constexpr Word kSign = Word{1} << (kBits - 1);
  static constexpr Word kMagnitude = static_cast<Word>(kSign - 1);
  static constexpr Word kInf = static_cast<Word>(kMagnitude & ~((Word{1} << kFraction) - Word{1}));

  static Class Classify(Word word) {
    const Word magnitude = word & kMagnitude;
    if (magnitude > kInf) return Class::kNan;
    if (magnitude < kInf) return Class::kFinite;
    return (word & kSign) != 0 ? Class::kNegativeInf : Class::kPositiveInf;
  }
  // Every NaN has the same bits here.
  static uint64_t CanonicalBits(Word word) {
    return Classify(word) == Class::kNan ? uint64_t{kInf} + 1 : uint64_t{word};
  }
  // Steps between two values of this format; -0 and +0 are no step apart.
  static uint64_t UlpDistance(Word a, Word b) {
    const uint64_t from = a & kMagnitude;
    const uint64_t to = b & kMagnitude;
    if (((a ^ b) & kSign) == 0) return from > to ? from - to : to - from;
    return from + to;
  }
};

struct F32 : FloatFormat<uint32_t, 32, 23> {
  static double Value(Word word) { return std::bit_cast<float>(word); }
};
struct F64 : FloatFormat<uint64_t, 64, 52> {
  static double Value(Word word) { return std::bit_cast<double>(word); }
};
struct Bf16 : FloatFormat<uint16_t, 16, 7> {
  static double Value(Word word) { return std::bit_cast<float>(uint32_t{word} << 16); }
};
struct F16 : FloatFormat<uint16_t, 16, 10> {
  static double Value(Word word) {
    const int exponent = (word >> 10) & 31;
    const int fraction = word & 1023;
    double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
    return (word & kSign) != 0 ? -magnitude : magnitude;
  }
};

template <typename WordType>
struct IntFormat {
  using Word = WordType;
  static constexpr bool kIsFloat = false;
  static Class Classify(Word) { return Class::kFinite; }
  static uint64_t CanonicalBits(Word word) { return static_cast<uint64_t>(word); }
  static double Value(Word word) { return static_cast<double>(word); }
  static uint64_t UlpDistance(Word a, Word b) {
    return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
                 : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
  }
};
using I32 = IntFormat<int32_t>;
using I64 = IntFormat<int64_t>;

// Tensors need not be aligned.
template <typename Word>
Word LoadElement(const void* data, uint64_t index) {
  Word word;
  std::memcpy(&word, static_cast<const unsigned char*>(data) + index * sizeof(Word), sizeof(Word));
  return word;
}

}  // namespace blazed::equivalence
