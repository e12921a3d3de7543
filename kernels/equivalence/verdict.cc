#include "kernels/equivalence/verdict.h"

#include <algorithm>
#include <cmath>

namespace blazed::equivalence {
namespace {

struct Bound {
  double element = 0;  // on max |a - b|
  double rms = 0;      // on rms (a - b)
  double gain = 0;     // on |sum a (b - a)| / sum a^2
  double floor = 0;    // of the role: what is within it has no gain
  bool judgeable = true;
};

struct Tolerance {
  double unit_roundoff;
  double element_factor;
  double rms_factor;
};

Tolerance ToleranceOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return {0x1p-24, 1024, 64};
    case Dtype::kF64:
      return {0x1p-53, 1024, 64};
    case Dtype::kF16:
      return {0x1p-11, 8, 2};
    case Dtype::kBf16:
      return {0x1p-8, 8, 2};
    case Dtype::kI32:
    case Dtype::kI64:
      return {0, 0, 0};
  }
  return {0, 0, 0};
}

constexpr double kCoarseElementFactor = 8;
constexpr double kCoarseRmsFactor = 2;
constexpr double kOwnFactor = 4;
constexpr double kRoleFactor = 4;
constexpr double kLargestBound = 1.0 / 4;  // of the scale, and of the rms
constexpr double kLargestGain = 1.0 / 16;

double Rms(double sum_squares, uint64_t elements) {
  return elements == 0 ? 0 : std::sqrt(sum_squares / static_cast<double>(elements));
}

// Two runs as far from the truth as this on either side stay within the largest bounds.
bool IsSharp(const OwnError& own) {
  return 2 * own.element <= kLargestBound && 2 * own.rms <= kLargestBound &&
         2 * own.gain <= kLargestGain;
}

// A bound on one norm of the difference, where `size` is that norm of the default's tensor.
double SharpBound(double roundoffs, double own, double size, double floor) {
  return std::max({roundoffs * size, std::min(kOwnFactor * own, kLargestBound) * size, floor});
}

Bound BoundOf(const TensorResult& tensor, double role_scale) {
  const Tolerance type = ToleranceOf(tensor.dtype);
  const Difference& d = tensor.difference;
  const double coarse = IsFloat(tensor.dtype) ? tensor.unit_roundoff : 0;
  const double scale = d.max_default;
  const double rms = Rms(d.sum_squares_default, d.elements);
  const double u = std::max(type.unit_roundoff, coarse);
  const double role_noise = kRoleFactor * u * role_scale;
  const bool sharp = IsSharp(tensor.own);
  const OwnError own = sharp ? tensor.own : OwnError{};

  Bound bound;
  bound.floor =
      tensor.own.referenced ? kRoleFactor * std::min(u, 0x1p-24) * role_scale : role_noise;
  bound.element =
      SharpBound(std::max(type.element_factor * type.unit_roundoff, kCoarseElementFactor * coarse),
                 own.element, scale, bound.floor);
  bound.rms = SharpBound(std::max(type.rms_factor * type.unit_roundoff, kCoarseRmsFactor * coarse),
                         own.rms, rms, bound.floor);
  bound.gain = kLargestGain;
  if (sharp) return bound;
  bound.judgeable = tensor.own.element * scale <= role_noise;
  if (!bound.judgeable) return bound;
  bound.element = std::max(bound.element, kOwnFactor * tensor.own.element * scale);
  bound.rms = std::max(bound.rms, kOwnFactor * tensor.own.rms * rms);
  bound.floor = std::max(bound.floor, bound.rms);
  return bound;
}

// How far a difference is along its bound: above 1 is beyond it.
double Ratio(double difference, double bound) {
  if (difference == 0) return 0;
  return bound > 0 ? difference / bound : HUGE_VAL;
}

Verdict JudgeRounding(const TensorResult& tensor, const Bound& bound, double ratio) {
  const Difference& d = tensor.difference;
  if (d.healed > 0 || d.prediction_disagreements > 0) return Verdict::kRejectedDifferent;
  if (d.mismatches == 0) return Verdict::kIdentical;
  if (!IsFloat(tensor.dtype)) return Verdict::kRejectedDifferent;
  if (ratio <= 1) return Verdict::kRounding;
  return bound.judgeable ? Verdict::kRejectedDifferent : Verdict::kInconclusive;
}

Verdict JudgeTensor(Contract contract, const TensorResult& tensor, const Bound& bound,
                    double ratio) {
  const Difference& d = tensor.difference;
  if (d.broken > 0) return Verdict::kRejectedBroken;
  if (d.elements == 0) return Verdict::kNothingToCheck;
  switch (contract) {
    case Contract::kBitwise:
      return d.mismatches == 0 ? Verdict::kIdentical : Verdict::kRejectedDifferent;
    case Contract::kRounding:
      return JudgeRounding(tensor, bound, ratio);
    case Contract::kPrediction:
      if (d.predictions == 0) return Verdict::kNothingToCheck;
      if (d.prediction_disagreements > 0) return Verdict::kRejectedDifferent;
      return d.mismatches == 0 ? Verdict::kIdentical : Verdict::kRounding;
  }
  return Verdict::kInconclusive;
}

// Sterner is larger. Nothing to check gives way to anything that was checked.
int Sternness(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNothingToCheck:
      return 0;
    case Verdict::kIdentical:
      return 1;
    case Verdict::kRounding:
      return 2;
    case Verdict::kInconclusive:
      return 3;
    case Verdict::kRejectedDifferent:
      return 4;
    case Verdict::kRejectedBroken:
      return 5;
  }
  return 5;
}

Verdict Sterner(Verdict a, Verdict b) { return Sternness(a) >= Sternness(b) ? a : b; }

void AddCounts(Summary& into, const Difference& d) {
  into.elements += d.elements;
  into.mismatches += d.mismatches;
  into.max_abs = std::max(into.max_abs, d.max_abs);
  into.max_rel = std::max(into.max_rel, d.max_rel);
  into.max_ulp = std::max(into.max_ulp, d.max_ulp);
  into.nan_default += d.nan_default;
  into.nan_variant += d.nan_variant;
  into.inf_default += d.inf_default;
  into.inf_variant += d.inf_variant;
  into.prediction_disagreements += d.prediction_disagreements;
  into.digest_default.Add(d.digest_default);
  into.digest_variant.Add(d.digest_variant);
}

// Of `part` to the larger of itself and `whole`: at most 1.
double Share(double part, double whole) { return part == 0 ? 0 : part / std::max(part, whole); }

double Gain(const Difference& d) { return Share(std::fabs(d.sum_products), d.sum_squares_default); }

// Faults outrank any numeric distance in the choice of the worst tensor.
double WorstRatio(const TensorResult& tensor, const Bound& bound) {
  const Difference& d = tensor.difference;
  if (d.broken > 0 || d.healed > 0) return HUGE_VAL;
  const double rms = Rms(d.sum_squares_diff, d.elements);
  const double gain = rms > bound.floor ? Ratio(Gain(d), bound.gain) : 0;
  return std::max({Ratio(d.max_abs, bound.element), Ratio(rms, bound.rms), gain});
}

}  // namespace

OwnError OwnErrorFrom(const Difference& d) {
  return {Share(d.max_abs, d.max_default),
          Share(Rms(d.sum_squares_diff, d.elements), Rms(d.sum_squares_default, d.elements)),
          Gain(d), false};
}

OwnError Larger(const OwnError& a, const OwnError& b) {
  return {std::max(a.element, b.element), std::max(a.rms, b.rms), std::max(a.gain, b.gain),
          a.referenced || b.referenced};
}

Summary Judge(Contract contract, std::span<const TensorResult> tensors) {
  std::array<double, kRoles> role_scale{};
  for (const TensorResult& tensor : tensors) {
    double& scale = role_scale[static_cast<int>(tensor.role)];
    scale = std::max(scale, tensor.difference.max_default);
  }
  Summary summary;
  summary.probes = 1;
  summary.verdict = Verdict::kNothingToCheck;
  for (const TensorResult& tensor : tensors) {
    const Bound bound = BoundOf(tensor, role_scale[static_cast<int>(tensor.role)]);
    const double ratio = WorstRatio(tensor, bound);
    summary.verdict = Sterner(summary.verdict, JudgeTensor(contract, tensor, bound, ratio));
    AddCounts(summary, tensor.difference);
    if (ratio > summary.worst_ratio) {
      const double scale = tensor.difference.max_default;
      summary.worst_ratio = ratio;
      summary.worst_tensor = tensor.name;
      summary.own_max_rel = tensor.own.element;
      summary.allowed_max_rel = scale > 0 ? bound.element / scale : 0;
    }
  }
  return summary;
}

void Merge(Summary& into, const Summary& from) {
  into.verdict = into.probes == 0 ? from.verdict : Sterner(into.verdict, from.verdict);
  into.probes += from.probes;
  into.elements += from.elements;
  into.mismatches += from.mismatches;
  into.max_abs = std::max(into.max_abs, from.max_abs);
  into.max_rel = std::max(into.max_rel, from.max_rel);
  into.max_ulp = std::max(into.max_ulp, from.max_ulp);
  into.nan_default += from.nan_default;
  into.nan_variant += from.nan_variant;
  into.inf_default += from.inf_default;
  into.inf_variant += from.inf_variant;
  into.prediction_disagreements += from.prediction_disagreements;
  into.digest_default.Add(from.digest_default);
  into.digest_variant.Add(from.digest_variant);
  if (from.worst_ratio > into.worst_ratio) {
    into.worst_ratio = from.worst_ratio;
    into.worst_tensor = from.worst_tensor;
    into.own_max_rel = from.own_max_rel;
    into.allowed_max_rel = from.allowed_max_rel;
  }
}

}  // namespace blazed::equivalence
