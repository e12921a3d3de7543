// Plain loops: any processor. Without fused multiply-add in hardware __builtin_fmaf is the C
// library's, which is correctly rounded and so gives the same bits, slowly.
#pragma once

namespace blazed::cpu::BLAZED_ISA {

struct V {
  float v[16];
};
struct Mask {
  bool m[16];
};

template <class F>
inline V Each(F f) {
  V r;
  for (int i = 0; i < 16; ++i) r.v[i] = f(i);
  return r;
}
inline uint32_t Bits(float x) {
  uint32_t u;
  __builtin_memcpy(&u, &x, sizeof u);
  return u;
}
inline float FromBits(uint32_t u) {
  float x;
  __builtin_memcpy(&x, &u, sizeof x);
  return x;
}

inline V Broadcast(float x) {
  return Each([=](int) { return x; });
}
inline V Load(const float* p) {
  return Each([=](int i) { return p[i]; });
}
inline V LoadPart(const float* p, int64_t n) {
  return Each([=](int i) { return i < n ? p[i] : 0.0f; });
}
inline void Store(float* p, V x) { __builtin_memcpy(p, x.v, sizeof x.v); }
inline void StorePart(float* p, int64_t n, V x) {
  __builtin_memcpy(p, x.v, static_cast<size_t>(n) * sizeof(float));
}

inline V operator+(V x, V y) {
  return Each([&](int i) { return x.v[i] + y.v[i]; });
}
inline V operator-(V x, V y) {
  return Each([&](int i) { return x.v[i] - y.v[i]; });
}
inline V operator*(V x, V y) {
  return Each([&](int i) { return x.v[i] * y.v[i]; });
}
inline V operator/(V x, V y) {
  return Each([&](int i) { return x.v[i] / y.v[i]; });
}
inline V Fma(V x, V y, V z) {
  return Each([&](int i) { return __builtin_fmaf(x.v[i], y.v[i], z.v[i]); });
}
inline V Sqrt(V x) {
  return Each([&](int i) { return __builtin_sqrtf(x.v[i]); });
}
inline V Max(V x, V y) {
  return Each([&](int i) { return x.v[i] > y.v[i] ? x.v[i] : y.v[i]; });
}
inline V Min(V x, V y) {
  return Each([&](int i) { return x.v[i] < y.v[i] ? x.v[i] : y.v[i]; });
}

inline Mask Less(V x, V y) {
  Mask r;
  for (int i = 0; i < 16; ++i) r.m[i] = x.v[i] < y.v[i];
  return r;
}
inline Mask IsNan(V x) {
  Mask r;
  for (int i = 0; i < 16; ++i) r.m[i] = x.v[i] != x.v[i];
  return r;
}
inline V Select(Mask m, V x, V y) {
  return Each([&](int i) { return m.m[i] ? x.v[i] : y.v[i]; });
}

inline V Iota() {
  return Each([](int i) { return static_cast<float>(i); });
}
inline V Abs(V x) {
  return Each([&](int i) { return FromBits(Bits(x.v[i]) & 0x7fffffffu); });
}
inline V WithSign(V magnitude, V sign) {
  return Each(
      [&](int i) { return FromBits(Bits(magnitude.v[i]) | (Bits(sign.v[i]) & 0x80000000u)); });
}
// A float outside the exponent's range (or NaN) is the caller's to select away, so it is only kept
// from being converted: the conversion would be undefined.
inline V PowerOfTwo(V n) {
  return Each([&](int i) {
    const bool fits = n.v[i] >= -126.0f && n.v[i] <= 127.0f;
    const int32_t exponent = fits ? static_cast<int32_t>(n.v[i]) : 0;
    return FromBits(static_cast<uint32_t>(exponent + 127) << 23);
  });
}
inline void SplitExponent(V x, V* mantissa, V* exponent) {
  for (int i = 0; i < 16; ++i) {
    const uint32_t k = Bits(x.v[i]) - 0x3f3504f3u;
    exponent->v[i] = static_cast<float>(static_cast<int32_t>(k) >> 23);
    mantissa->v[i] = FromBits((k & 0x007fffffu) + 0x3f3504f3u);
  }
}

inline float TreeSum(V x) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) x.v[i] = x.v[i] + x.v[i + width];
  }
  return x.v[0];
}

inline float First(V x) { return x.v[0]; }

}  // namespace blazed::cpu::BLAZED_ISA
