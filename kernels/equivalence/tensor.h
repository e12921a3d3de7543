// A tensor of a check computation as the comparators see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace blazed::equivalence {

enum class Dtype { kF32, kF64, kF16, kBf16, kI32, kI64 };

enum class Role { kOutput, kGradient, kPrediction, kLoss };
inline constexpr int kRoles = 4;

// Borrowed; dense and in host memory. `row`: row length for the arg-max of a float kPrediction;
// 0 reads as one row. A last row that is cut short is a row too. `unit_roundoff`: of the arithmetic
// that made the values, where it is coarser than their type.
struct TensorView {
  std::string_view name;
  Dtype dtype = Dtype::kF32;
  Role role = Role::kOutput;
  uint64_t count = 0;
  const void* data = nullptr;
  uint64_t row = 0;
  double unit_roundoff = 0;
};

constexpr size_t BytesPerElement(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
    case Dtype::kI64:
      return 8;
    case Dtype::kF32:
    case Dtype::kI32:
      return 4;
    case Dtype::kF16:
    case Dtype::kBf16:
      return 2;
  }
  return 8;
}

constexpr bool IsFloat(Dtype dtype) { return dtype != Dtype::kI32 && dtype != Dtype::kI64; }

}  // namespace blazed::equivalence
