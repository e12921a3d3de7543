#pragma once

#include <immintrin.h>

namespace blazed::cpu::BLAZED_ISA {

struct V {
  __m512 v;
};
struct Mask {
  __mmask16 m;
};

inline __mmask16 FirstLanes(int64_t n) { return static_cast<__mmask16>((1u << n) - 1u); }

inline V Broadcast(float x) { return {_mm512_set1_ps(x)}; }
inline V Load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline V LoadPart(const float* p, int64_t n) { return {_mm512_maskz_loadu_ps(FirstLanes(n), p)}; }
inline void Store(float* p, V x) { _mm512_storeu_ps(p, x.v); }
inline void StorePart(float* p, int64_t n, V x) { _mm512_mask_storeu_ps(p, FirstLanes(n), x.v); }

inline V operator+(V x, V y) { return {_mm512_add_ps(x.v, y.v)}; }
inline V operator-(V x, V y) { return {_mm512_sub_ps(x.v, y.v)}; }
inline V operator*(V x, V y) { return {_mm512_mul_ps(x.v, y.v)}; }
inline V operator/(V x, V y) { return {_mm512_div_ps(x.v, y.v)}; }
inline V Fma(V x, V y, V z) { return {_mm512_fmadd_ps(x.v, y.v, z.v)}; }
inline V Sqrt(V x) { return {_mm512_sqrt_ps(x.v)}; }
// x > y ? x : y, so the second operand where either is NaN.
inline V Max(V x, V y) { return {_mm512_max_ps(x.v, y.v)}; }
// x < y ? x : y.
inline V Min(V x, V y) { return {_mm512_min_ps(x.v, y.v)}; }

inline Mask Less(V x, V y) { return {_mm512_cmp_ps_mask(x.v, y.v, _CMP_LT_OQ)}; }
inline Mask IsNan(V x) { return {_mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q)}; }
inline V Select(Mask m, V x, V y) { return {_mm512_mask_blend_ps(m.m, y.v, x.v)}; }

// Lane i is i.
inline V Iota() { return {_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)}; }

inline V Abs(V x) {
  return {_mm512_castsi512_ps(
      _mm512_and_si512(_mm512_castps_si512(x.v), _mm512_set1_epi32(0x7fffffff)))};
}

// |magnitude| with the sign of `sign`; the magnitude must not be negative.
inline V WithSign(V magnitude, V sign) {
  const __m512i bit = _mm512_and_si512(_mm512_castps_si512(sign.v), _mm512_set1_epi32(INT32_MIN));
  return {_mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(magnitude.v), bit))};
}

// 2^n for integer-valued n in [-126, 127].
inline V PowerOfTwo(V n) {
  const __m512i biased = _mm512_add_epi32(_mm512_cvttps_epi32(n.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(biased, 23))};
}

// Positive normal x as mantissa in [sqrt(1/2), sqrt(2)) and exponent.
inline void SplitExponent(V x, V* mantissa, V* exponent) {
  const __m512i half = _mm512_set1_epi32(0x3f3504f3);
  const __m512i k = _mm512_sub_epi32(_mm512_castps_si512(x.v), half);
  exponent->v = _mm512_cvtepi32_ps(_mm512_srai_epi32(k, 23));
  mantissa->v = _mm512_castsi512_ps(
      _mm512_add_epi32(_mm512_and_si512(k, _mm512_set1_epi32(0x007fffff)), half));
}

// Sum of the lanes by the tree i+8, i+4, i+2, i+1.
inline float TreeSum(V x) {
  const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x.v), 1));
  const __m256 by8 = _mm256_add_ps(_mm512_castps512_ps256(x.v), high);
  const __m128 by4 = _mm_add_ps(_mm256_castps256_ps128(by8), _mm256_extractf128_ps(by8, 1));
  const __m128 by2 = _mm_add_ps(by4, _mm_movehl_ps(by4, by4));
  return _mm_cvtss_f32(_mm_add_ss(by2, _mm_shuffle_ps(by2, by2, 1)));
}

inline float First(V x) { return _mm512_cvtss_f32(x.v); }

}  // namespace blazed::cpu::BLAZED_ISA
