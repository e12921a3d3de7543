// Bayesian linear model of what each toggle costs, in log step time: main effects plus neighbour
// pairs. A first guess for the search, never evidence: only races accept.
//
// Conjugate update in O(d^2) a pair (linear model of linear Thompson sampling, Agrawal and Goyal
// 2013; pairwise terms as in BOCS, arXiv 1806.08838). What is drawn from it: sampler.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "daemon/planner/space.h"

namespace blazed::planner {

struct SurrogatePrior {
  double mean = 0;     // of a main effect; positive: a change costs time
  double sd = 0;       // of a main effect
  double pair_sd = 0;  // of a neighbour pair
  bool operator==(const SurrogatePrior&) const = default;
};

// Nonzero coordinates of f(challenger) - f(champion).
using Contrast = std::vector<std::pair<uint32_t, double>>;

class Surrogate {
 public:
  // `weights`: factors of the main effects' prior spread, toggle by toggle; empty: all 1.
  Surrogate(const Space* space, SurrogatePrior prior, const std::vector<double>& weights = {});

  size_t dimension() const { return mean_.size(); }
  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& covariance() const { return covariance_; }  // row by row

  Contrast Between(const Toggles& from, const Toggles& to) const;

  // One observation of the contrast, clipped to what prediction and noise make plausible.
  // `variance` > 0.
  void Update(const Contrast& contrast, double y, double variance);

  double Dot(const std::vector<double>& weights, const Contrast& contrast) const;
  double Predict(const Contrast& contrast) const { return Dot(mean_, contrast); }
  double Variance(const Contrast& contrast) const;
  double VarianceOf(size_t i) const {
    return covariance_[i * dimension() + i];
  }  // of a main effect

  // Change of predicted log time when toggle i of `at` is flipped.
  double FlipCost(const std::vector<double>& weights, const Toggles& at, size_t i) const;

  // Spreads the posterior: what was learned is a first guess from here on.
  void Inflate(double factor);
  // Each main effect differs here by so much from where it was learned.
  void Widen(double sd);

  std::vector<uint8_t> Save() const;
  // False, and nothing changed, where the bytes are of another space or damaged.
  bool Restore(const std::vector<uint8_t>& bytes);

 private:
  const Space* space_;
  std::vector<double> mean_, covariance_;  // first the toggles, then the neighbour pairs
};

}  // namespace blazed::planner
