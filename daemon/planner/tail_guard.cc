#include "daemon/planner/tail_guard.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/counted.h"

namespace blazed::planner {
namespace {

constexpr std::array<double, 3> kTailBets = {0.2, 0.4, 0.7};
// In steps. A challenger is cut short at five champion steps, so no champion may count for more.
constexpr double kMostExcess = 4;

}  // namespace

void TailGuard::Add(double ratio, double scale, double typical) {
  ++pairs_;
  const double far = kTailScales * scale;
  const double ahead = std::max(typical, 0.0);
  if (ratio < -far) {
    ++own_;
    Bet(+1, std::expm1(-ratio));
  } else if (ratio > ahead + far) {
    // A clear win is no slow step of the champion: it counts from where it usually is.
    ++others_;
    Bet(-1, std::expm1(ratio - ahead));
  }
}

void TailGuard::AddCutShort() {
  ++pairs_;
  ++own_;
  Bet(+1, kMostExcess);
}

void TailGuard::Bet(double side, double excess) {
  for (size_t j = 0; j < kTailBets.size(); ++j) log_[j] += std::log1p(kTailBets[j] * side);
  excess_ += side * std::min(excess, kMostExcess);
}

double TailGuard::LogE() const {
  const double top = *std::max_element(log_.begin(), log_.end());
  double sum = 0;
  for (double value : log_) sum += std::exp(value - top);
  return top + std::log(sum / static_cast<double>(log_.size()));
}

bool TailGuard::Vetoes(double typical, double proof) const {
  if (LogE() < std::log(proof)) return false;
  return excess_ >= -std::expm1(-typical) * static_cast<double>(pairs_);
}

std::string TailGuard::Story() const {
  return std::string(kTailReason) + ": of " + Counted(own_ + others_, "pair") +
         " with one far slower step " + std::to_string(own_) + " were slow under it, in " +
         Counted(pairs_, "pair") + " in all";
}

}  // namespace blazed::planner
