// Elementwise operations over a dense tile, and spreads of a row vector or of one number a row.
#pragma once

#include "kernels/cpu/isa/det_math.h"
#include "kernels/cpu/isa/sums.h"
#include "kernels/cpu/isa/tile_args.h"

namespace blazed::cpu::BLAZED_ISA {

// out[i] = f(x[i]).
template <class F>
inline void Flat1(const TileArgs& a, F f) {
  const float* x = a.in[0];
  float* out = a.out;
  const int64_t n = a.rows * a.cols;
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const V first = f(Load(x + i));
    const V second = f(Load(x + i + kLanes));
    Store(out + i, first);
    Store(out + i + kLanes, second);
  }
  for (; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    StoreUpTo(out + i, count, f(LoadUpTo(x + i, count)));
  }
}

// out[i] = f(x[i], y[i]).
template <class F>
inline void Flat2(const TileArgs& a, F f) {
  const float* x = a.in[0];
  const float* y = a.in[1];
  float* out = a.out;
  const int64_t n = a.rows * a.cols;
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const V first = f(Load(x + i), Load(y + i));
    const V second = f(Load(x + i + kLanes), Load(y + i + kLanes));
    Store(out + i, first);
    Store(out + i + kLanes, second);
  }
  for (; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    StoreUpTo(out + i, count, f(LoadUpTo(x + i, count), LoadUpTo(y + i, count)));
  }
}

// out[r][c] = f(x[r][c], v[c]).
template <class F>
inline void WithRow(const TileArgs& a, F f) {
  const float* v = a.in[1];
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.in[0] + r * a.cols;
    float* out = a.out + r * a.cols;
    for (int64_t c = 0; c < a.cols; c += kLanes) {
      const int64_t count = a.cols - c < kLanes ? a.cols - c : kLanes;
      StoreUpTo(out + c, count, f(LoadUpTo(x + c, count), LoadUpTo(v + c, count)));
    }
  }
}

// out[r][c] = f(x[r][c], s[r]).
template <class F>
inline void WithColumn(const TileArgs& a, F f) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.in[0] + r * a.cols;
    float* out = a.out + r * a.cols;
    const V s = Broadcast(a.in[1][r]);
    for (int64_t c = 0; c < a.cols; c += kLanes) {
      const int64_t count = a.cols - c < kLanes ? a.cols - c : kLanes;
      StoreUpTo(out + c, count, f(LoadUpTo(x + c, count), s));
    }
  }
}

inline void Scale(const TileArgs& a) {
  const V k = Broadcast(a.alpha);
  Flat1(a, [=](V x) { return k * x; });
}
inline void AddConstant(const TileArgs& a) {
  const V k = Broadcast(a.alpha);
  Flat1(a, [=](V x) { return x + k; });
}
inline void Exp(const TileArgs& a) {
  Flat1(a, [](V x) { return DetExp(x); });
}
inline void Tanh(const TileArgs& a) {
  Flat1(a, [](V x) { return DetTanh(x); });
}
inline void Sigmoid(const TileArgs& a) {
  Flat1(a, [](V x) { return DetSigmoid(x); });
}
inline void Relu(const TileArgs& a) {
  // The operand order keeps NaN: Max gives its second operand where either is NaN.
  Flat1(a, [](V x) { return Max(Broadcast(0.0f), x); });
}
inline void Gelu(const TileArgs& a) {
  Flat1(a, [](V x) { return DetGelu(x); });
}
inline void Square(const TileArgs& a) {
  Flat1(a, [](V x) { return x * x; });
}
inline void SqrtAdd(const TileArgs& a) {
  const V k = Broadcast(a.alpha);
  Flat1(a, [=](V x) { return Sqrt(x) + k; });
}
inline void InverseSqrt(const TileArgs& a) {
  const V k = Broadcast(a.alpha);
  Flat1(a, [=](V x) { return DetInverseSqrt(x + k); });
}
inline void Fill(const TileArgs& a) {
  for (int64_t i = 0; i < a.rows * a.cols; ++i) a.out[i] = a.alpha;
}

inline void Add(const TileArgs& a) {
  Flat2(a, [](V x, V y) { return x + y; });
}
inline void Subtract(const TileArgs& a) {
  Flat2(a, [](V x, V y) { return x - y; });
}
inline void Multiply(const TileArgs& a) {
  Flat2(a, [](V x, V y) { return x * y; });
}
inline void Divide(const TileArgs& a) {
  Flat2(a, [](V x, V y) { return x / y; });
}
inline void TanhGrad(const TileArgs& a) {
  Flat2(a, [](V y, V dy) { return dy * (Broadcast(1.0f) - y * y); });
}
inline void SigmoidGrad(const TileArgs& a) {
  Flat2(a, [](V y, V dy) { return (dy * y) * (Broadcast(1.0f) - y); });
}
inline void ReluGrad(const TileArgs& a) {
  Flat2(a, [](V x, V dy) { return Select(Less(Broadcast(0.0f), x), dy, Broadcast(0.0f)); });
}
inline void GeluGrad(const TileArgs& a) {
  Flat2(a, [](V x, V dy) { return dy * DetGeluSlope(x); });
}
inline void InverseSqrtGrad(const TileArgs& a) {
  Flat2(a, [](V y, V dy) { return (Broadcast(-0.5f) * dy) * ((y * y) * y); });
}
inline void Mix(const TileArgs& a) {
  const V p = Broadcast(a.alpha);
  const V q = Broadcast(a.beta);
  Flat2(a, [=](V x, V y) { return Fma(p, x, q * y); });
}
inline void MixSquare(const TileArgs& a) {
  const V p = Broadcast(a.alpha);
  const V q = Broadcast(a.beta);
  Flat2(a, [=](V x, V y) { return Fma(p, x, (q * y) * y); });
}
inline void StepDown(const TileArgs& a) {
  const V k = Broadcast(-a.alpha);
  Flat2(a, [=](V x, V y) { return Fma(k, y, x); });
}
inline void StepDownBy(const TileArgs& a) {
  const V k = Broadcast(-a.in[2][0]);
  Flat2(a, [=](V x, V y) { return Fma(k, y, x); });
}
inline void AdamRate(const TileArgs& a) {
  const float left1 = 1.0f - a.in[0][0];
  const float left2 = 1.0f - a.in[1][0];
  a.out[0] = (a.alpha * __builtin_sqrtf(left2)) / left1;
}

inline void AddRow(const TileArgs& a) {
  WithRow(a, [](V x, V v) { return x + v; });
}
inline void MultiplyRow(const TileArgs& a) {
  WithRow(a, [](V x, V v) { return x * v; });
}
inline void AddColumn(const TileArgs& a) {
  WithColumn(a, [](V x, V s) { return x + s; });
}
inline void SubtractColumn(const TileArgs& a) {
  WithColumn(a, [](V x, V s) { return x - s; });
}
inline void MultiplyColumn(const TileArgs& a) {
  WithColumn(a, [](V x, V s) { return x * s; });
}
inline void ExpSubtractColumn(const TileArgs& a) {
  WithColumn(a, [](V x, V s) { return DetExp(x - s); });
}

inline void SpreadRow(const TileArgs& a) {
  const V k = Broadcast(a.alpha);
  for (int64_t r = 0; r < a.rows; ++r) {
    float* out = a.out + r * a.cols;
    for (int64_t c = 0; c < a.cols; c += kLanes) {
      const int64_t count = a.cols - c < kLanes ? a.cols - c : kLanes;
      StoreUpTo(out + c, count, k * LoadUpTo(a.in[0] + c, count));
    }
  }
}
inline void SpreadColumn(const TileArgs& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    float* out = a.out + r * a.cols;
    const V value = Broadcast(a.alpha * a.in[0][r]);
    for (int64_t c = 0; c < a.cols; c += kLanes) {
      StoreUpTo(out + c, a.cols - c < kLanes ? a.cols - c : kLanes, value);
    }
  }
}
inline void AddTiled(const TileArgs& a) {
  TileArgs row = a;
  row.rows = 1;
  for (int64_t r = 0; r < a.rows; ++r) {
    row.in[0] = a.in[0] + r * a.cols;
    row.in[1] = a.in[1] + ((a.row_begin + r) % a.period) * a.cols;
    row.out = a.out + r * a.cols;
    Flat2(row, [](V x, V y) { return x + y; });
  }
}

}  // namespace blazed::cpu::BLAZED_ISA
