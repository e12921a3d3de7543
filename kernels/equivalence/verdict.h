// From differences to a verdict under a contract.
//
// What `rounding` allows. Summing n terms in another order moves the result by about
// u * sqrt(n) * |terms| (probabilistic bound of Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019;
// u = unit roundoff of the type, 2^-24 for f32). An element that is small because large terms
// cancelled carries the error of the large ones, so errors are judged against the tensor's scale
// and not against the element. The number of terms is not visible here; two bounds hold at once:
//
//   element:  max |a - b| <= max(E * u * scale, min(4 * own element, 1/4) * scale)
//   tensor:   rms (a - b) <= max(R * u * rms a, min(4 * own rms, 1/4) * rms a)
//
//  - f32, f64: E = 1024, R = 64. E is sqrt(n) at a million terms. R: the error of one sequential
//    sum of n terms of random sign is 0.3 u sqrt(n) of the result's own scale, so 64 leaves room
//    for n = 4096 through ten layers in a row (errors of layers add in quadrature: x 3.2).
//    A product in TF32 (u = 2^-11) is beyond R by a factor above 50.
//  - f16, bf16, and every tensor whose values were computed in coarser arithmetic than their type
//    (its host says so): E = 8, R = 2. The sums run in f32 and a result is rounded once or twice,
//    so values move to a neighbour now and then. The larger of this and the type's own bound
//    counts.
//  - integers: no difference at all.
//  - scale is the tensor's largest finite |a|.
//  - predictions must agree exactly.
//
// The default's own error (OwnError) is how far it was seen from itself, run again on the same
// inputs, and from a reference in finer arithmetic, where the host has one. Where a variant's error
// is another draw of the same kind, the two are sqrt(2) of one apart, and twice one at most where
// neither is larger: 4 leaves room for a variant that rounds in more places than the default.
//
// What it may never allow. A bound of a quarter of the scale still sees a lost element that is a
// quarter of it, a tensor of zeros, of another batch or of a swapped operand (rms of the difference
// at least rms a), and a lost tail of one part in sixteen. It does not see a tensor scaled by 1.1,
// so there is a third bound: rounding goes either way and hardly moves the length along a, thus
//
//   gain:     |sum a (b - a)| <= 1/16 sum a^2
//
// which says more than the tensor bound only where the own rms is above 1/64. Where the own error
// is beyond half of 1/4, 1/4 or 1/16, two honest runs could miss a bound: nothing to judge by, so
// what the type's bound does not explain is inconclusive. Errors of bf16 (u = 2^-8) stay within:
// rms 0.4 u a rounding, 1.6 % in a hundred roundings in a row, 1/8 in six thousand.
//
// A gradient that vanishes analytically holds noise alone, as large as roundings of others of its
// role. Role scale is the largest |a| of all tensors of one role.
//
//  - Without a reference 4u * role scale is allowed to every tensor. In coarse arithmetic that is a
//    lot (1/64 of the role scale for bf16) and asks nothing of small gradients.
//  - With a reference what is noise was seen: 4 * 2^-24 * role scale is allowed (finer types: 4u).
//    Where the own error is too large to judge by, and at most 4u * role scale, the tensor is such
//    noise, and is allowed four times its own error without the limits above.
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

// The largest unit roundoff that a host may name for a tensor: that of bf16.
inline constexpr double kCoarsestRoundoff = 0x1p-8;

// The default's own error in one tensor, in shares of the tensor's size when it was measured, so
// that it holds at later batches: gradients shrink as training goes on. Each at most 1.
struct OwnError {
  double element = 0;       // of the scale
  double rms = 0;           // of the rms
  double gain = 0;          // of the sum of squares
  bool referenced = false;  // a reference took part
};

// From the default's run to another of the default, or to a reference.
OwnError OwnErrorFrom(const Difference& default_to_other);

// The larger of each.
OwnError Larger(const OwnError& a, const OwnError& b);

struct TensorResult {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Role role = Role::kOutput;
  Difference difference;
  OwnError own;
  double unit_roundoff = 0;  // of the default's arithmetic, where it is coarser than the type
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
  double own_max_rel = 0;      // own error of the worst tensor, against its scale
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
