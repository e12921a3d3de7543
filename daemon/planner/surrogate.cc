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
  for (size_t i = 0; i < d; ++i) {
    double sd = i < toggles ? prior.sd : prior.pair_sd;
    if (i < toggles) mean_[i] = prior.mean;
    if (i < toggles && !weights.empty()) sd *= weights[i];
    covariance_[i * d + i] = sd * sd;
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
}

double Surrogate::FlipCost(const std::vector<double>& weights, const Toggles& at, size_t i) const {
  double sum = weights[i];
  for (const auto& [other, pair] : space_->PairsOf(i)) {
    if (at[other]) sum += weights[space_->size() + pair];
  }
  if (at[i]) return -sum;
  for (uint32_t other : space_->SlotOf(i)) {
    if (other != i && at[other]) sum += FlipCost(weights, at, other);
  }
  return sum;
}

void Surrogate::Inflate(double factor) {
  for (double& value : covariance_) value *= factor;
}

void Surrogate::Widen(double sd) {
  const size_t d = dimension();
  for (size_t i = 0; i < space_->size(); ++i) covariance_[i * d + i] += sd * sd;
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
  return true;
}

}  // namespace blazed::planner
