// The clipped-bet e-process: evidence that a sign-symmetric quantity is larger than zero.
//
// Under randomised pairs the sign of a pair's difference is a fair coin given its size and the
// whole past, whatever the noise does, so each bet's factor has mean at most one and Ville's
// inequality bounds the false-accept rate at any stopping time (design-based argument of Ham et
// al., arXiv 2210.08639; bets and mixture after Waudby-Smith and Ramdas, arXiv 2010.09686;
// symmetric e-values after Vovk and Wang, arXiv 2208.08925).
#pragma once

#include <array>
#include <cstdint>

namespace blazed::planner {

inline constexpr double kClip = 1.5;  // psi saturates at kClip scales
inline constexpr std::array<double, 6> kBets = {0.08, 0.2, 0.4, 0.6, 0.8, 0.95};

// max(-1, min(1, x / (kClip * scale))): odd, nondecreasing, bounded.
double ClippedScore(double x, double scale);

class ClippedBet {
 public:
  // `scale` must be known before the pair's coin was drawn.
  void Add(double x, double scale) { AddScore(ClippedScore(x, scale)); }
  void AddScore(double score);  // -1 for a challenger that was cut short
  double LogE() const;          // log of the mixture over kBets
  // The bet on the pairs that `part` does not hold; it holds pairs of this bet only.
  ClippedBet Without(const ClippedBet& part) const;
  uint64_t count() const { return count_; }

 private:
  std::array<double, kBets.size()> log_{};
  uint64_t count_ = 0;
};

}  // namespace blazed::planner
