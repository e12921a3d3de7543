#include "kernels/equivalence/compare.h"

#include <algorithm>
#include <cmath>

#include "kernels/equivalence/elements.h"

namespace blazed::equivalence {
namespace {

void CountClass(Class kind, uint64_t& nans, uint64_t& infs) {
  if (kind == Class::kNan) ++nans;
  if (kind == Class::kPositiveInf || kind == Class::kNegativeInf) ++infs;
}

// Elements of which at least one is NaN or Inf.
void CompareClasses(Class reference, Class variant, Difference& d) {
  CountClass(reference, d.nan_default, d.inf_default);
  CountClass(variant, d.nan_variant, d.inf_variant);
  if (reference == variant) return;
  if (variant == Class::kFinite) {
    ++d.healed;
  } else {
    ++d.broken;
  }
}

template <typename Format>
void CompareValues(typename Format::Word reference, typename Format::Word variant, Difference& d) {
  const double a = Format::Value(reference);
  const double b = Format::Value(variant);
  const double abs = std::fabs(a - b);
  d.max_abs = std::max(d.max_abs, abs);
  if (abs > 0) d.max_rel = std::max(d.max_rel, abs / std::max(std::fabs(a), std::fabs(b)));
  d.sum_squares_diff += abs * abs;
  d.sum_products += a * (b - a);
  d.max_ulp = std::max(d.max_ulp, Format::UlpDistance(reference, variant));
}

template <typename Format>
void CompareElements(const TensorView& reference, const TensorView& variant, uint32_t tensor,
                     Difference& d) {
  using Word = typename Format::Word;
  Digest128 common;  // of elements that are equal: mixed once for both sides
  for (uint64_t i = 0; i < reference.count; ++i) {
    const Word a = LoadElement<Word>(reference.data, i);
    const Word b = LoadElement<Word>(variant.data, i);
    const uint64_t a_bits = Format::CanonicalBits(a);
    const uint64_t b_bits = Format::CanonicalBits(b);
    if (a_bits == b_bits) {
      common.Add(tensor, i, a_bits);
    } else {
      ++d.mismatches;
      d.digest_default.Add(tensor, i, a_bits);
      d.digest_variant.Add(tensor, i, b_bits);
    }

    const Class a_class = Format::Classify(a);
    const Class b_class = Format::Classify(b);
    if (a_class == Class::kFinite) {
      const double value = Format::Value(a);
      d.max_default = std::max(d.max_default, std::fabs(value));
      d.sum_squares_default += value * value;
    }
    if (a_class != Class::kFinite || b_class != Class::kFinite) {
      CompareClasses(a_class, b_class, d);
    } else if (a_bits != b_bits) {
      CompareValues<Format>(a, b, d);
    }
  }
  d.digest_default.Add(common);
  d.digest_variant.Add(common);
}

// The first of the largest elements; a NaN never is one.
template <typename Format>
uint64_t ArgMax(const void* data, uint64_t begin, uint64_t end) {
  uint64_t best = begin;
  double best_value = -HUGE_VAL;
  for (uint64_t i = begin; i < end; ++i) {
    const double value = Format::Value(LoadElement<typename Format::Word>(data, i));
    if (value > best_value) {
      best_value = value;
      best = i;
    }
  }
  return best;
}

template <typename Format>
void ComparePredictions(const TensorView& reference, const TensorView& variant, Difference& d) {
  if constexpr (!Format::kIsFloat) {
    d.predictions += reference.count;
    d.prediction_disagreements += d.mismatches;
  } else {
    const uint64_t row = reference.row == 0 ? reference.count : reference.row;
    for (uint64_t begin = 0; begin < reference.count;
         begin += std::min(row, reference.count - begin)) {
      const uint64_t end = begin + std::min(row, reference.count - begin);
      ++d.predictions;
      if (ArgMax<Format>(reference.data, begin, end) != ArgMax<Format>(variant.data, begin, end)) {
        ++d.prediction_disagreements;
      }
    }
  }
}

template <typename Format>
Difference CompareAs(const TensorView& reference, const TensorView& variant, uint32_t tensor) {
  Difference d;
  d.elements = reference.count;
  CompareElements<Format>(reference, variant, tensor, d);
  if (reference.role == Role::kPrediction) ComparePredictions<Format>(reference, variant, d);
  return d;
}

}  // namespace

bool SameShape(const TensorView& a, const TensorView& b) {
  return a.name == b.name && a.dtype == b.dtype && a.role == b.role && a.count == b.count &&
         a.row == b.row;
}

Difference Compare(const TensorView& reference, const TensorView& variant, uint32_t tensor_index) {
  switch (reference.dtype) {
    case Dtype::kF32:
      return CompareAs<F32>(reference, variant, tensor_index);
    case Dtype::kF64:
      return CompareAs<F64>(reference, variant, tensor_index);
    case Dtype::kF16:
      return CompareAs<F16>(reference, variant, tensor_index);
    case Dtype::kBf16:
      return CompareAs<Bf16>(reference, variant, tensor_index);
    case Dtype::kI32:
      return CompareAs<I32>(reference, variant, tensor_index);
    case Dtype::kI64:
      return CompareAs<I64>(reference, variant, tensor_index);
  }
  return Difference{};
}

}  // namespace blazed::equivalence
