#include "daemon/planner/surrogate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace blazed::planner {
namespace {

constexpr uint32_t kFormat = 1;

template <class T>
void Append(std::vector<uint8_t>& out, const T& value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

template <class T>
bool Take(const std::vector<uint8_t>& in, size_t& at, T& value) {
  if (in.size() - at < sizeof(T)) return false;
  std::memcpy(&value, in.data() + at, sizeof(T));
  at += sizeof(T);
  return true;
}

}  // namespace

Surrogate::Surrogate(const Space* space, SurrogatePrior prior, const std::vector<double>& weights)
    : space_(space) {
  const size_t toggles = space->size(), d = toggles + space->neighbours().size();
  mean_.assign(d, 0);
  covariance_.assign(d * d, 0);
  pairs_of_.resize(toggles);
  for (size_t i = 0; i < d; ++i) {
    double sd = i < toggles ? prior.sd : prior.pair_sd;
    if (i < toggles) mean_[i] = prior.mean;
    if (i < toggles && !weights.empty()) sd *= weights[i];
    covariance_[i * d + i] = sd * sd;
  }
  for (size_t k = 0; k < space->neighbours().size(); ++k) {
    const auto [a, b] = space->neighbours()[k];
    const uint32_t coordinate = static_cast<uint32_t>(toggles + k);
    pairs_of_[a].emplace_back(b, coordinate);
    pairs_of_[b].emplace_back(a, coordinate);
  }
}

Contrast Surrogate::Between(const Toggles& from, const Toggles& to) const {
  Contrast contrast;
  const size_t toggles = space_->size();
  for (uint32_t i = 0; i < toggles; ++i) {
    if (from[i] != to[i]) contrast.emplace_back(i, to[i] ? 1.0 : -1.0);
  }
  for (size_t k = 0; k < space_->neighbours().size(); ++k) {
    const auto [a, b] = space_->neighbours()[k];
    const int before = from[a] && from[b], after = to[a] && to[b];
    if (before != after) {
      contrast.emplace_back(static_cast<uint32_t>(toggles + k),
                            static_cast<double>(after - before));
    }
  }
  return contrast;
}

double Surrogate::Dot(const std::vector<double>& weights, const Contrast& contrast) const {
  double sum = 0;
  for (const auto& [i, value] : contrast) sum += weights[i] * value;
  return sum;
}

double Surrogate::Variance(const Contrast& contrast) const {
  const size_t d = dimension();
  double sum = 0;
  for (const auto& [i, u] : contrast) {
    for (const auto& [j, v] : contrast) sum += u * v * covariance_[i * d + j];
  }
  return std::max(sum, 0.0);
}

void Surrogate::Update(const Contrast& contrast, double y, double variance) {
  if (contrast.empty() || !std::isfinite(y)) return;
  const size_t d = dimension();
  const double predicted = Predict(contrast);
  const double room = 3 * std::sqrt(variance) + 2 * std::sqrt(Variance(contrast));
  y = std::clamp(y, predicted - room, predicted + room);
  std::vector<double> gain(d, 0);
  for (const auto& [j, u] : contrast) {
    const double* row = &covariance_[j * d];
    for (size_t i = 0; i < d; ++i) gain[i] += row[i] * u;
  }
  double q = variance;
  for (const auto& [j, u] : contrast) q += gain[j] * u;
  const double error = (y - predicted) / q;
  for (size_t i = 0; i < d; ++i) mean_[i] += gain[i] * error;
  for (size_t i = 0; i < d; ++i) {
    const double g = gain[i] / q;
    if (g == 0) continue;
    double* row = &covariance_[i * d];
    for (size_t j = 0; j < d; ++j) row[j] -= g * gain[j];
  }
  ++stale_;
}

// Right-looking Cholesky into the upper factor: the inner loops run along rows, so that the
// compiler vectorises them without re-ordering a sum.
void Surrogate::Factor() {
  const size_t d = dimension();
  factor_ = covariance_;
  for (size_t k = 0; k < d; ++k) {
    double* row = &factor_[k * d];
    const double pivot = std::sqrt(std::max(row[k], 1e-14));
    row[k] = pivot;
    for (size_t j = k + 1; j < d; ++j) row[j] /= pivot;
    for (size_t i = k + 1; i < d; ++i) {
      const double f = row[i];
      if (f == 0) continue;
      double* other = &factor_[i * d];
      for (size_t j = i; j < d; ++j) other[j] -= f * row[j];
    }
  }
  stale_ = 0;
}

std::vector<double> Surrogate::Sample(Random& random) {
  const size_t d = dimension();
  if (stale_ >= (d > kLarge ? kRefactorLarge : kRefactor)) Factor();
  std::vector<double> weights = mean_;
  for (size_t k = 0; k < d; ++k) {
    const double z = random.Normal();
    const double* row = &factor_[k * d];
    for (size_t j = k; j < d; ++j) weights[j] += z * row[j];
  }
  return weights;
}

double Surrogate::FlipCost(const std::vector<double>& weights, const Toggles& at, size_t i) const {
  double sum = weights[i];
  for (const auto& [other, coordinate] : pairs_of_[i]) {
    if (at[other]) sum += weights[coordinate];
  }
  if (at[i]) return -sum;
  for (uint32_t other : space_->SlotOf(i)) {
    if (other != i && at[other]) sum += FlipCost(weights, at, other);
  }
  return sum;
}

void Surrogate::Inflate(double factor) {
  for (double& value : covariance_) value *= factor;
  stale_ = kRefactorLarge;
}

void Surrogate::Widen(double sd) {
  const size_t d = dimension();
  for (size_t i = 0; i < space_->size(); ++i) covariance_[i * d + i] += sd * sd;
  stale_ = kRefactorLarge;
}

std::vector<uint8_t> Surrogate::Save() const {
  std::vector<uint8_t> out;
  const size_t d = dimension();
  Append(out, kFormat);
  Append(out, space_->Hash());
  Append(out, static_cast<uint32_t>(d));
  for (double value : mean_) Append(out, value);
  for (size_t i = 0; i < d; ++i) {
    for (size_t j = 0; j <= i; ++j) Append(out, static_cast<float>(covariance_[i * d + j]));
  }
  return out;
}

bool Surrogate::Restore(const std::vector<uint8_t>& bytes) {
  const size_t d = dimension();
  size_t at = 0;
  uint32_t format = 0, size = 0;
  uint64_t hash = 0;
  if (!Take(bytes, at, format) || format != kFormat) return false;
  if (!Take(bytes, at, hash) || hash != space_->Hash()) return false;
  if (!Take(bytes, at, size) || size != d) return false;
  std::vector<double> mean(d), covariance(d * d);
  for (double& value : mean) {
    if (!Take(bytes, at, value) || !std::isfinite(value)) return false;
  }
  for (size_t i = 0; i < d; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      float value = 0;
      if (!Take(bytes, at, value) || !std::isfinite(value)) return false;
      covariance[i * d + j] = covariance[j * d + i] = value;
    }
    if (covariance[i * d + i] < 0) return false;
  }
  if (at != bytes.size()) return false;
  mean_ = std::move(mean);
  covariance_ = std::move(covariance);
  stale_ = kRefactorLarge;
  return true;
}

}  // namespace blazed::planner
