// One pass over two tensors: what differs, and by how much. No judgement here; see verdict.h.
#pragma once

#include <cstdint>

#include "kernels/equivalence/digest.h"
#include "kernels/equivalence/tensor.h"

namespace blazed::equivalence {

// `default` is the default plan's run, `variant` the other one.
struct Difference {
  uint64_t elements = 0;
  uint64_t mismatches = 0;  // bits differ; NaNs are one class
  double max_abs = 0;       // over elements finite on both sides
  double max_rel = 0;       // |a - b| / max(|a|, |b|)
  uint64_t max_ulp = 0;
  uint64_t nan_default = 0;
  uint64_t nan_variant = 0;
  uint64_t inf_default = 0;
  uint64_t inf_variant = 0;
  uint64_t broken = 0;  // variant is NaN or Inf where the default is not, or is another Inf
  uint64_t healed = 0;  // variant is finite where the default is not
  uint64_t predictions = 0;
  uint64_t prediction_disagreements = 0;
  double max_default = 0;          // largest finite |a|
  double sum_squares_default = 0;  // over finite a
  double sum_squares_diff = 0;     // over elements finite on both sides
  double sum_products = 0;         // a (b - a), over elements finite on both sides
  Digest128 digest_default;
  Digest128 digest_variant;
};

// Both views must agree in dtype, role and count (the caller checks). `tensor_index` enters the
// digest, so that equal values in two tensors are told apart. Any thread; no allocation.
Difference Compare(const TensorView& reference, const TensorView& variant, uint32_t tensor_index);

// True where the two can be compared element by element.
bool SameShape(const TensorView& a, const TensorView& b);

}  // namespace blazed::equivalence
