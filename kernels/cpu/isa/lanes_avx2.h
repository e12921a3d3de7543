#pragma once

#include <immintrin.h>

namespace blazed::cpu::BLAZED_ISA {

struct V {
  __m256 a, b;  // lanes 0..7 and 8..15
};
struct Mask {
  __m256 a, b;
};

inline V Broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline V Load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline V LoadPart(const float* p, int64_t n) {
  float lanes[16] = {};
  __builtin_memcpy(lanes, p, static_cast<size_t>(n) * sizeof(float));
  return Load(lanes);
}
inline void Store(float* p, V x) {
  _mm256_storeu_ps(p, x.a);
  _mm256_storeu_ps(p + 8, x.b);
}
inline void StorePart(float* p, int64_t n, V x) {
  float lanes[16];
  Store(lanes, x);
  __builtin_memcpy(p, lanes, static_cast<size_t>(n) * sizeof(float));
}

inline V operator+(V x, V y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
inline V operator-(V x, V y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
inline V operator*(V x, V y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
inline V operator/(V x, V y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
inline V Fma(V x, V y, V z) {
  return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
inline V Sqrt(V x) { return {_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)}; }
inline V Max(V x, V y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
inline V Min(V x, V y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }

inline Mask Less(V x, V y) {
  return {_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ)};
}
inline Mask IsNan(V x) {
  return {_mm256_cmp_ps(x.a, x.a, _CMP_UNORD_Q), _mm256_cmp_ps(x.b, x.b, _CMP_UNORD_Q)};
}
inline V Select(Mask m, V x, V y) {
  return {_mm256_blendv_ps(y.a, x.a, m.a), _mm256_blendv_ps(y.b, x.b, m.b)};
}

inline V Iota() {
  return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15)};
}

inline V Abs(V x) {
  const __m256 mask = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  return {_mm256_and_ps(x.a, mask), _mm256_and_ps(x.b, mask)};
}

inline V WithSign(V magnitude, V sign) {
  const __m256 bit = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(magnitude.a, _mm256_and_ps(sign.a, bit)),
          _mm256_or_ps(magnitude.b, _mm256_and_ps(sign.b, bit))};
}

inline __m256 PowerOfTwoHalf(__m256 n) {
  const __m256i biased = _mm256_add_epi32(_mm256_cvttps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}
inline V PowerOfTwo(V n) { return {PowerOfTwoHalf(n.a), PowerOfTwoHalf(n.b)}; }

inline void SplitExponentHalf(__m256 x, __m256* mantissa, __m256* exponent) {
  const __m256i half = _mm256_set1_epi32(0x3f3504f3);
  const __m256i k = _mm256_sub_epi32(_mm256_castps_si256(x), half);
  *exponent = _mm256_cvtepi32_ps(_mm256_srai_epi32(k, 23));
  *mantissa = _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_and_si256(k, _mm256_set1_epi32(0x007fffff)), half));
}
inline void SplitExponent(V x, V* mantissa, V* exponent) {
  SplitExponentHalf(x.a, &mantissa->a, &exponent->a);
  SplitExponentHalf(x.b, &mantissa->b, &exponent->b);
}

inline float TreeSum(V x) {
  const __m256 by8 = _mm256_add_ps(x.a, x.b);
  const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
  const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
  return _mm_cvtss_f32(_mm_add_ss(by2, _mm_shuffle_ps(by2, by2, 1)));
}

inline float First(V x) { return _mm256_cvtss_f32(x.a); }

}  // namespace blazed::cpu::BLAZED_ISA
