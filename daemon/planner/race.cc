#include "daemon/planner/race.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/counted.h"
#include "daemon/planner/interval.h"
#include "daemon/planner/samples.h"
#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

constexpr double kFarSlower = 5;      // scales; two pairs in a row beyond it end a race
constexpr uint64_t kEarlyPairs = 16;  // among its first ones

}  // namespace

double SplitAlpha(double alpha, uint64_t j) {
  const double n = static_cast<double>(std::max<uint64_t>(j, 1));
  return alpha / (n * (n + 1));
}

uint64_t PairCap(double alpha, double delta0, double delta1, double scale, uint64_t limit) {
  const double ratio = scale / std::max(delta1 - delta0, 1e-6);
  const double pairs = 4 * std::log(6 / alpha) * ratio * ratio;
  const double least = std::min<double>(64, static_cast<double>(limit));
  return static_cast<uint64_t>(std::clamp(std::ceil(pairs), least, static_cast<double>(limit)));
}

Race::Race(RaceId id, RaceTerms terms, Plan champion, Plan challenger, Moment started)
    : id_(id),
      terms_(terms),
      champion_(std::move(champion)),
      challenger_(std::move(challenger)),
      started_(started) {}

void Race::Add(const PairSample& pair, double scale) {
  if (ended_) return;
  pairs_.push_back(pair);
  if (pair.excluded) return EndAtLimit();
  if (pair.aborted) {
    accept_.AddScore(-1);
    drop_.AddScore(+1);
    ratios_.push_back(kAbortedRatio);
    scales_.push_back(scale);
    Decide(true);
    return;
  }
  const double ratio = LogRatio(pair);
  accept_.Add(ratio - terms_.delta0, scale);
  drop_.Add(terms_.delta1 - ratio, scale);
  ratios_.push_back(ratio);
  scales_.push_back(scale);
  // Later the e-processes have said as much already, and a long race through a noisy hour meets two
  // such pairs by chance.
  Decide(counted() <= kEarlyPairs && ratio < -kFarSlower * scale);
}

void Race::Decide(bool far_slower) {
  far_slower_ = far_slower ? far_slower_ + 1 : 0;
  // Once over its bound the evidence stands (Ville's inequality is about the supremum).
  won_ = won_ || accept_.LogE() >= std::log(1 / terms_.alpha);
  if (won_) {
    if (counted() < std::min(terms_.least_pairs, terms_.max_pairs)) return EndAtLimit();
    End(RaceOutcome::kWon, "faster by more than the least gain that counts");
  } else if (drop_.LogE() >= std::log(1 / terms_.beta)) {
    End(RaceOutcome::kLost, "the gain is smaller than what is looked for");
  } else if (far_slower_ >= 2) {
    End(RaceOutcome::kLost,
        "two pairs in a row were slower by more than five times the noise, so it was not tried on");
  } else {
    EndAtLimit();
  }
}

// Excluded pairs count towards a limit of their own: a host that flags everything must not race for
// ever.
void Race::EndAtLimit() {
  if (counted() < terms_.max_pairs && pairs_.size() < 2 * terms_.max_pairs) return;
  End(won_ ? RaceOutcome::kWon : RaceOutcome::kUndecided,
      (won_ ? "faster, with " : "inside the noise after ") + Counted(counted(), "pair"));
}

void Race::End(RaceOutcome outcome, const std::string& reason) {
  ended_ = true;
  outcome_ = outcome;
  reason_ = reason;
}

void Race::Abandon(const std::string& reason) {
  if (!ended_) End(RaceOutcome::kUndecided, reason);
}

double Race::Estimate() const { return Median(ratios_); }

double Race::RecentEstimate() const {
  const size_t count = std::min(ratios_.size(), ScaleRing::kSize);
  return Median({ratios_.end() - static_cast<std::ptrdiff_t>(count), ratios_.end()});
}

double Race::StandardError() const {
  if (ratios_.empty()) return 0;
  const double centre = Median(ratios_);
  std::vector<double> sizes;
  for (double r : ratios_) sizes.push_back(std::fabs(r - centre));
  // Standard error of a median under normal noise: sqrt(pi/2) sd / sqrt(n), sd by the MAD.
  return 1.2533 * 1.4826 * Median(sizes) / std::sqrt(static_cast<double>(ratios_.size()));
}

double Race::MedianChampionNs() const {
  std::vector<double> times;
  for (const PairSample& p : pairs_) {
    if (!p.excluded && p.champion_ns > 0) times.push_back(p.champion_ns);
  }
  return Median(times);
}

double Race::MedianChallengerNs() const {
  std::vector<double> times;
  for (const PairSample& p : pairs_) {
    if (!p.excluded && !p.aborted) times.push_back(p.challenger_ns);
  }
  return Median(times);
}

RaceRecord Race::Record(SessionId session, Moment ended) const {
  RaceRecord record;
  record.id = id_;
  record.kind = terms_.kind;
  record.session = session;
  record.champion = champion_;
  record.challenger = challenger_;
  record.outcome = outcome_;
  record.reason = reason_;
  record.alpha = terms_.alpha;
  record.beta = terms_.beta;
  record.delta0 = terms_.delta0;
  record.delta1 = terms_.delta1;
  record.log_e_accept = accept_.LogE();
  record.log_e_drop = drop_.LogE();
  // Without a counted pair nothing is refuted, so both ends are open.
  record.effect = ConfidenceInterval(ratios_, scales_, terms_.interval_alpha);
  record.pairs = pairs_;
  record.started = started_;
  record.ended = ended;
  return record;
}

}  // namespace blazed::planner
