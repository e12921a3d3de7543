#include "daemon/planner/race.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/counted.h"
#include "daemon/planner/exclusion.h"
#include "daemon/planner/interval.h"
#include "daemon/planner/samples.h"
#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

constexpr double kFarSlower = 5;      // scales; two pairs in a row beyond it end a race
constexpr uint64_t kEarlyPairs = 16;  // among its first ones
constexpr double kHeldUp = 0.01;      // of single steps, by the machine and not by their plan

// So many pairs of longer units in a row that the machine alone holds up no oftener than it does
// two pairs of single steps: a unit of k steps is held up with 1 - 0.99^k.
uint32_t FarSlowerInRow(const UnitShape& unit) {
  if (unit.timed <= 1) return 2;
  const double held_up = -std::expm1(unit.timed * std::log1p(-kHeldUp));
  return static_cast<uint32_t>(std::ceil(2 * std::log(kHeldUp) / std::log(held_up)));
}

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

double MedianError(const std::vector<double>& ratios) {
  if (ratios.empty()) return 0;
  const double centre = Median(ratios);
  std::vector<double> sizes;
  for (double r : ratios) sizes.push_back(std::fabs(r - centre));
  // Standard error of a median under normal noise: sqrt(pi/2) sd / sqrt(n), sd by the MAD.
  return 1.2533 * 1.4826 * Median(sizes) / std::sqrt(static_cast<double>(ratios.size()));
}

Race::Race(RaceId id, RaceTerms terms, Plan champion, Plan challenger, Moment started)
    : id_(id),
      terms_(terms),
      champion_(std::move(champion)),
      challenger_(std::move(challenger)),
      started_(started) {}

void Race::Add(const PairSample& pair, double scale, SessionId job) {
  if (ended_) return;
  pairs_.push_back(pair);
  pairs_.back().session = job;
  if (pair.excluded) return WatchExcluded(pair, scale);
  if (pair.aborted) {
    tail_.AddCutShort();
    Count(kAbortedRatio, scale, -1, +1, job);
    Decide(true);
    return;
  }
  const double ratio = LogRatio(pair);
  WatchTail(ratio, scale);
  Count(ratio, scale, ClippedScore(ratio - terms_.delta0, scale),
        ClippedScore(terms_.delta1 - ratio, scale), job);
  // Later the e-processes have said as much already, and a long race through a noisy hour meets two
  // such pairs by chance.
  Decide(counted() <= kEarlyPairs && ratio < -kFarSlower * scale);
}

// `accept` and `drop`: the pair's scores in the two bets.
void Race::Count(double ratio, double scale, double accept, double drop, SessionId job) {
  accept_.AddScore(accept);
  drop_.AddScore(drop);
  parts_.Add(job, accept);
  ratios_.push_back(ratio);
  scales_.push_back(scale);
  givers_.push_back(job);
}

// No single job carries a win; what settles is held up by the others as well.
bool Race::Shared() const {
  return parts_.Balanced() && (terms_.kind != RaceKind::kReplication || parts_.Backed(accept_));
}

void Race::WatchTail(double ratio, double scale) {
  const bool far = std::fabs(ratio) > kTailScales * scale;
  tail_.Add(ratio, scale, far && counted() >= 3 ? RecentEstimate() : 0);
}

void Race::Decide(bool far_slower) {
  far_slower_ = far_slower ? far_slower_ + 1 : 0;
  // Once over its bound the evidence stands (Ville's inequality is about the supremum).
  if (!won_ && accept_.LogE() >= std::log(1 / terms_.alpha)) {
    won_ = true;
    proven_at_ = counted();
  }
  if (tail_.LogE() >= std::log(kTailProof) && tail_.Vetoes(Estimate())) {
    vetoed_ = true;
    End(RaceOutcome::kLost, tail_.Story());
  } else if (won_) {
    DecideWon();
  } else if (drop_.LogE() >= std::log(1 / terms_.beta)) {
    End(RaceOutcome::kLost, "the gain is smaller than what is looked for");
  } else if (const uint32_t in_row = FarSlowerInRow(terms_.unit); far_slower_ >= in_row) {
    End(RaceOutcome::kLost,
        (in_row == 2 ? "two" : std::to_string(in_row)) +
            std::string(" pairs in a row were slower by more than five times the noise, so it was "
                        "not tried on"));
  } else {
    EndAtLimit();
  }
}

// The verdict stands from the pair on that proved it; those behind it are for the interval, for the
// other jobs, and for a gain that was there at first and left: that is no constant effect, of which
// alone the proof speaks.
void Race::DecideWon() {
  const bool enough = counted() >= std::min(terms_.least_pairs, terms_.max_pairs);
  if (enough && Shared() && Shown()) {
    const std::string proven = " was proven at pair " + std::to_string(proven_at_);
    return End(RaceOutcome::kWon, "faster by more than the least gain that counts" +
                                      (proven_at_ < counted() ? ", as" + proven : ""));
  }
  if (enough && !Shown() && drop_.LogE() >= std::log(1 / terms_.beta)) {
    return End(RaceOutcome::kUndecided, GoneText());
  }
  EndAtLimit();
}

bool Race::Shown() const { return Estimate() > terms_.delta0; }

std::string Race::GoneText() const {
  return "faster at pair " + std::to_string(proven_at_) + ", and not over all " +
         Counted(counted(), "pair");
}

// What an event held up is no evidence for a verdict. But events strike either arm as often, so a
// plan under which most of such pairs are far slower is not run on: the job pays for these steps.
void Race::WatchExcluded(const PairSample& pair, double scale) {
  if (pair.aborted) {
    excluded_tail_.AddCutShort();
  } else if (HasBothTimes(pair)) {
    excluded_tail_.Add(LogRatio(pair), scale, 0);
  }
  if (!won_ && excluded_tail_.Vetoes(0)) {
    return End(RaceOutcome::kUndecided,
               "the pairs left out were far slower again and again, so it was not tried on");
  }
  EndAtLimit();
}

// Excluded pairs count towards a limit of their own: a host that flags everything must not race for
// ever.
void Race::EndAtLimit() {
  if (counted() < terms_.max_pairs && pairs_.size() < 2 * terms_.max_pairs) return;
  if (won_ && !Shown()) return End(RaceOutcome::kUndecided, GoneText());
  const char* how = !won_      ? "inside the noise after "
                    : Shared() ? "faster, with "
                               : "faster in one job and not in the others, with ";
  End(won_ && Shared() ? RaceOutcome::kWon : RaceOutcome::kUndecided,
      how + Counted(counted(), "pair"));
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

double Race::StandardError() const { return MedianError(ratios_); }

std::vector<double> Race::RatiosOf(SessionId job) const {
  std::vector<double> ratios;
  for (size_t i = 0; i < ratios_.size(); ++i) {
    if (givers_[i] == job) ratios.push_back(ratios_[i]);
  }
  return ratios;
}

// Devices differ in level, so times of several jobs have no common median.
double Race::MedianNs(double PairSample::*arm, SessionId job) const {
  const bool all = parts_.GivenBy(job) == 0;
  std::vector<double> times;
  for (const PairSample& p : pairs_) {
    const bool cut_short = arm == &PairSample::challenger_ns && p.aborted;
    if (p.excluded || cut_short || p.*arm <= 0) continue;
    if (all || p.session == job) times.push_back(p.*arm);
  }
  return Median(times);
}

double Race::MedianChampionNs(SessionId job) const {
  return MedianNs(&PairSample::champion_ns, job);
}

double Race::MedianChallengerNs(SessionId job) const {
  return MedianNs(&PairSample::challenger_ns, job);
}

// The e-process that won had refuted every gain up to delta0, at a level within the interval's own,
// and Ville's inequality lets that stand whatever the pairs behind it are. So these stay out.
Interval Race::IntervalWithVerdict() const {
  Interval effect = ConfidenceInterval(ratios_, scales_, terms_.interval_alpha);
  const bool within = terms_.alpha <= terms_.interval_alpha / 2;
  if (outcome_ != RaceOutcome::kWon || !within) return effect;
  effect.low = std::max(effect.low, terms_.delta0);
  effect.high = std::max(effect.high, effect.estimate);
  return effect;
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
  if (const std::string left_out = ExcludedText(pairs_); !left_out.empty()) {
    record.reason += (reason_.empty() ? "" : "; ") + left_out;
  }
  record.alpha = terms_.alpha;
  record.beta = terms_.beta;
  record.delta0 = terms_.delta0;
  record.delta1 = terms_.delta1;
  record.log_e_accept = accept_.LogE();
  record.log_e_drop = drop_.LogE();
  // Without a counted pair nothing is refuted, so both ends are open.
  record.effect = IntervalWithVerdict();
  record.pairs = pairs_;
  for (PairSample& pair : record.pairs) {
    if (pair.session == session) pair.session = 0;
  }
  record.warm_steps = terms_.unit.warm;
  record.timed_steps = terms_.unit.timed;
  record.started = started_;
  record.ended = ended;
  return record;
}

}  // namespace blazed::planner
