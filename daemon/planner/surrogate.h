// Bayesian linear model of what each toggle costs, in log step time: main effects plus neighbour
// pairs. A first guess for the search, never evidence: only races accept.
//
// Conjugate update in O(d^2) a pair; Thompson samples by a Cholesky factor that is renewed every
// kRefactor updates (linear Thompson sampling, Agrawal and Goyal 2013; pairwise terms as in BOCS,
// arXiv 1806.08838).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "daemon/planner/random.h"
#include "daemon/planner/space.h"

namespace blazed::planner {

struct SurrogatePrior {
  double mean = 0;     // of a main effect; positive: a change costs time
  double sd = 0;       // of a main effect
  double pair_sd = 0;  // of a neighbour pair
};

// Nonzero coordinates of f(challenger) - f(champion).
using Contrast = std::vector<std::pair<uint32_t, double>>;

class Surrogate {
 public:
  // `weights`: factors of the main effects' prior spread, toggle by toggle; empty: all 1.
  Surrogate(const Space* space, SurrogatePrior prior, const std::vector<double>& weights = {});

  size_t dimension() const { return mean_.size(); }
  const std::vector<double>& mean() const { return mean_; }

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
  std::vector<double> Sample(Random& random);

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
  static constexpr int kRefactor = 8, kRefactorLarge = 24;
  static constexpr size_t kLarge =
      128;  // dimensions from which a factor costs more than its freshness
  void Factor();

  const Space* space_;
  std::vector<double> mean_, covariance_, factor_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>>
      pairs_of_;  // toggle -> (other toggle, coordinate)
  int stale_ = kRefactorLarge;
};

}  // namespace blazed::planner
