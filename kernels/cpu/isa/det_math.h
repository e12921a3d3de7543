// Elementary functions by fixed polynomials and written-out fused multiply-adds (docs/adr/0004), so
// that a step calls no math library and gives the same bits with every compiler, library and vector
// level. The coefficients are this project's own fit, as hexadecimal floats; det_math_test holds
// their digest and their error bounds.
#pragma once

#include "kernels/cpu/isa/lanes.h"

namespace blazed::cpu::BLAZED_ISA {

inline constexpr float kExp2Terms[] = {0x1.62e43p-1f,  0x1.ebfbep-3f,  0x1.c6af6cp-5f,
                                       0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f};
inline constexpr float kExpTerms[] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b6cp-7f,
                                      0x1.6d1106p-10f};
inline constexpr float kLogTerms[] = {0x1.555554p-2f,  -0x1.0000cep-2f, 0x1.999f1ap-3f,
                                      -0x1.54d012p-3f, 0x1.231c06p-3f,  -0x1.0a3534p-3f,
                                      0x1.0289f6p-3f,  -0x1.43c17ep-4f};
inline constexpr float kTanhTerms[] = {-0x1.555552p-2f, 0x1.110dd8p-3f, -0x1.b91582p-5f,
                                       0x1.576e3p-6f, -0x1.8c2d0ap-8f};
inline constexpr float kErfTerms[] = {0x1.20dd74p+0f,  -0x1.8126ecp-2f, 0x1.ce1b66p-4f,
                                      -0x1.b698aep-6f, 0x1.4785bcp-8f,  -0x1.3b37dep-11f};
inline constexpr float kErfcTerms[] = {-0x1.e4c18ep-12f, 0x1.a16e3ap+0f,  0x1.d2b22ep-1f,
                                       0x1.454a1cp-3f,   -0x1.386062p-5f, 0x1.c26382p-8f,
                                       -0x1.c42034p-11f, 0x1.176d6p-14f,  -0x1.3e40c6p-19f};
inline constexpr float kLn2High = 0x1.62e4p-1f;
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;

template <int N>
inline V Horner(const float (&terms)[N], V x) {
  V p = Broadcast(terms[N - 1]);
  for (int i = N - 2; i >= 0; --i) p = Fma(p, x, Broadcast(terms[i]));
  return p;
}

// Nearest integer, ties to even, for |t| < 2^22.
inline V Round(V t) {
  const V magic = Broadcast(12582912.0f);
  return (t + magic) - magic;
}

inline V Clamp(V x, float low, float high) { return Min(Max(x, Broadcast(low)), Broadcast(high)); }

// y * 2^n for integer-valued n in [-252, 254]: two factors, each exact unless the result is
// subnormal.
inline V ScaleByPower(V y, V n) {
  const V first = Clamp(n, -126.0f, 127.0f);
  const V rest = Clamp(n - first, -126.0f, 127.0f);
  return (y * PowerOfTwo(first)) * PowerOfTwo(rest);
}

// 2^t as mantissa part and integer power *n; |t| < 2^22.
inline V Exp2Parts(V t, V* n) {
  *n = Round(t);
  const V f = t - *n;
  return Fma(f, Horner(kExp2Terms, f), Broadcast(1.0f));
}

inline V DetExp2(V t) {
  V n;
  const V p = Exp2Parts(Clamp(t, -151.0f, 129.0f), &n);
  V r = ScaleByPower(p, n);
  r = Select(Less(t, Broadcast(128.0f)), r, Broadcast(__builtin_inff()));
  r = Select(Less(t, Broadcast(-150.0f)), Broadcast(0.0f), r);
  return Select(IsNan(t), t, r);
}

inline V DetExp(V x) {
  const V c = Clamp(x, -104.0f, 89.0f);
  const V n = Round(c * Broadcast(1.44269502f));
  V r = Fma(n, Broadcast(-kLn2High), c);
  r = Fma(n, Broadcast(-kLn2Low), r);
  const V p = Fma(r * r, Horner(kExpTerms, r), r);
  V y = ScaleByPower(Broadcast(1.0f) + p, n);
  y = Select(Less(Broadcast(88.7228394f), x), Broadcast(__builtin_inff()), y);
  y = Select(Less(x, Broadcast(-103.98f)), Broadcast(0.0f), y);
  return Select(IsNan(x), x, y);
}

inline V DetLog(V x) {
  const Mask tiny = Less(x, Broadcast(0x1p-126f));
  const V lifted = Select(tiny, x * Broadcast(8388608.0f), x);
  V m, e;
  SplitExponent(lifted, &m, &e);
  e = e + Select(tiny, Broadcast(-23.0f), Broadcast(0.0f));
  const V s = m - Broadcast(1.0f);
  const V s2 = s * s;
  V t = Fma(s * s2, Horner(kLogTerms, s), Broadcast(-0.5f) * s2);
  t = Fma(e, Broadcast(kLn2Low), t);
  V r = Fma(e, Broadcast(kLn2High), s + t);
  const V infinity = Broadcast(__builtin_inff());
  r = Select(Less(x, infinity), r, x);  // +Inf, and NaN as it came
  r = Select(Less(x, Broadcast(0x1p-149f)), Broadcast(0.0f) - infinity, r);
  return Select(Less(x, Broadcast(0.0f)), Broadcast(__builtin_nanf("")), r);
}

inline V DetTanh(V x) {
  const V a = Abs(x);
  const V z = x * x;
  const V near = Fma(x * z, Horner(kTanhTerms, z), x);
  const V e = DetExp(Broadcast(2.0f) * a);
  V far = Broadcast(1.0f) - Broadcast(2.0f) / (e + Broadcast(1.0f));
  far = Select(Less(Broadcast(9.2f), a), Broadcast(1.0f), far);
  return Select(IsNan(x), x, Select(Less(a, Broadcast(0.625f)), near, WithSign(far, x)));
}

inline V DetErf(V x) {
  const V a = Abs(x);
  const V near = x * Horner(kErfTerms, x * x);
  const V bounded = Min(a, Broadcast(4.0f));
  V far = Broadcast(1.0f) - DetExp2(Broadcast(0.0f) - Horner(kErfcTerms, bounded));
  far = Select(Less(a, Broadcast(4.0f)), far, Broadcast(1.0f));
  return Select(IsNan(x), x, Select(Less(a, Broadcast(0.92f)), near, WithSign(far, x)));
}

inline V DetInverseSqrt(V x) { return Broadcast(1.0f) / Sqrt(x); }

inline V DetSigmoid(V x) {
  const V e = DetExp(Broadcast(0.0f) - x);
  return Broadcast(1.0f) / (Broadcast(1.0f) + e);
}

// The tanh form of gelu by its sigmoid identity, x * sigmoid(2u), u = x*(c0 + c1*x^2): one
// exponential.
inline constexpr float kGelu0 = 0x1.988454p-1f;  // sqrt(2/pi)
inline constexpr float kGelu1 = 0x1.2444f2p-5f;  // 0.044715 * sqrt(2/pi)

inline V GeluGate(V x, V x2) {
  const V u = x * Fma(x2, Broadcast(kGelu1), Broadcast(kGelu0));
  return DetSigmoid(Broadcast(2.0f) * u);
}

inline V DetGelu(V x) { return x * GeluGate(x, x * x); }

// d/dx of the above: s + x*s*(1-s)*2u'.
inline V DetGeluSlope(V x) {
  const V x2 = x * x;
  const V s = GeluGate(x, x2);
  const V slope = Fma(x2, Broadcast(6.0f * kGelu1), Broadcast(2.0f * kGelu0));
  const V tail = (x * s) * (Broadcast(1.0f) - s);
  return Fma(tail, slope, s);
}

}  // namespace blazed::cpu::BLAZED_ISA
