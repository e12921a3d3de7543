// From differences to a verdict under a contract.
//
// What `rounding` allows. Summing n terms in another order moves the result by about
// u * sqrt(n) * |terms| (probabilistic bound of Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019;
// u = unit roundoff of the type, 2^-24 for f32). An element that is small because large terms
// cancelled carries the error of the large ones, so errors are judged against the tensor's scale
// and not against the element. The number of terms is not visible here; two bounds hold at once:
//
//   element:  max |a - b| <= max(E * u * scale, 4 * own max |a - a'|, 4u * role scale)
//   tensor:   rms (a - b) <= max(R * u * rms a, 4 * own rms (a - a'), 4u * role scale)
//
//  - f32, f64: E = 1024, R = 64. E is sqrt(n) at a million terms. R: the error of one sequential
//  sum
//    of n terms of random sign is 0.3 u sqrt(n) of the result's own scale, so 64 leaves room for
//    n = 4096 through ten layers in a row (errors of layers add in quadrature: x 3.2).
//    A product in TF32 (u = 2^-11) is beyond R by a factor above 50.
//  - f16, bf16: E = 8, R = 2. The sums run in f32 and the result is rounded once, so values move to
//    a neighbour now and then.
//  - integers: no difference at all.
//  - scale is the tensor's largest finite |a|; a' is a second run of the default on the same
//  inputs,
//    so that a host whose default does not repeat itself is judged by its own spread. Where that
//    spread alone passes 1/64 of the scale there is nothing to judge by: inconclusive.
//  - role scale is the largest |a| of all tensors of one role: four roundings of the largest
//    gradient are noise in a gradient that vanishes analytically.
//  - predictions must agree exactly.
//
// NaN or Inf where the default has none is broken under every contract; the default's NaN or Inf
// that the variant lacks is a difference.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/equivalence/compare.h"
#include "kernels/equivalence/tensor.h"

namespace blazed::equivalence {

enum class Contract { kBitwise, kRounding, kPrediction };

enum class Verdict {
  kNothingToCheck,
  kIdentical,
  kRounding,
  kRejectedDifferent,
  kRejectedBroken,
  kInconclusive,
};

constexpr bool Passed(Verdict verdict) {
  return verdict == Verdict::kIdentical || verdict == Verdict::kRounding;
}

// The default against itself, for one tensor.
struct OwnDifference {
  double max_abs = 0;
  double rms = 0;
  double max_rel = 0;
};

OwnDifference OwnFrom(const Difference& default_twice);

struct TensorResult {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Role role = Role::kOutput;
  Difference difference;
  OwnDifference own;
};

// All tensors of one or more probes. Sums and maxima over tensors; `worst_tensor` is the one
// nearest to, or furthest beyond, its bound.
struct Summary {
  Verdict verdict = Verdict::kInconclusive;
  uint64_t elements = 0;
  uint64_t mismatches = 0;
  double max_abs = 0;
  double max_rel = 0;
  uint64_t max_ulp = 0;
  uint64_t nan_default = 0;
  uint64_t nan_variant = 0;
  uint64_t inf_default = 0;
  uint64_t inf_variant = 0;
  uint64_t prediction_disagreements = 0;
  double own_max_rel = 0;
  double allowed_max_rel = 0;  // element bound of the worst tensor, against its scale
  std::string worst_tensor;
  Digest128 digest_default;
  Digest128 digest_variant;
  uint32_t probes = 0;      // that went in
  double worst_ratio = -1;  // of a difference to its bound; -1: no tensor
};

// One probe of one variant. Pure; any thread.
Summary Judge(Contract contract, std::span<const TensorResult> tensors);

// Adds a further probe of the same variant: the sterner verdict stays.
void Merge(Summary& into, const Summary& from);

}  // namespace blazed::equivalence
