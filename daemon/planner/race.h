// A race: pairs of champion and challenger drawn after the race was opened, ended by a verdict.
//
// Two e-processes run on the same pairs: "the gain is more than delta0" accepts, "the gain is less
// than delta1" drops. As delta0 < delta1 one of them grows whatever the truth is; the pair cap ends
// the rest as undecided.
#pragma once

#include <string>
#include <vector>

#include "daemon/planner/eprocess.h"
#include "daemon/planner/race_parts.h"
#include "daemon/planner/tail_guard.h"
#include "daemon/planner/types.h"
#include "daemon/planner/unit.h"

namespace blazed::planner {

struct RaceTerms {
  RaceKind kind = RaceKind::kSearch;
  double alpha = 0.05, beta = 0.10;
  double delta0 = 0.0025, delta1 = 0.0075;
  double interval_alpha = 0.05;  // of the interval that the record gives
  uint64_t max_pairs = 4000;
  uint64_t least_pairs = 0;  // a won race goes on to here, so that its interval says something
  bool discard = false;      // a warm step before each timed one
  UnitShape unit;            // of all its pairs
  bool operator==(const RaceTerms&) const = default;
};

// The log ratio of a pair whose challenger was cut short: it stands for minus infinity where a
// number is needed. In the bets it is a full loss.
inline constexpr double kAbortedRatio = -1.0;

// alpha/(j(j+1)) for the j-th race of a workload's life: the sum over all j is alpha.
double SplitAlpha(double alpha, uint64_t j);

// min(limit, max(64, 4 ln(6/alpha) (s/(delta1-delta0))^2)).
uint64_t PairCap(double alpha, double delta0, double delta1, double scale, uint64_t limit);

// Standard error of the median of log ratios.
double MedianError(const std::vector<double>& ratios);

class Race {
 public:
  Race(RaceId id, RaceTerms terms, Plan champion, Plan challenger, Moment started);

  RaceId id() const { return id_; }
  const RaceTerms& terms() const { return terms_; }
  const Plan& champion() const { return champion_; }
  const Plan& challenger() const { return challenger_; }

  // Counts one pair under the scale that held before it. After the end pairs are kept out. Pairs of
  // several jobs come in the order in which they were completed.
  void Add(const PairSample& pair, double scale, SessionId job = 0);
  // The job gives no further pairs.
  void Leave(SessionId job) { parts_.Leave(job); }
  const RaceParts& parts() const { return parts_; }
  // Goes on from what is known of the challenger's rare slow steps; before the first pair.
  void GoOnFrom(const TailGuard& tail) { tail_ = tail; }
  // Ends the race as undecided for a reason outside of its pairs.
  void Abandon(const std::string& reason);

  bool ended() const { return ended_; }
  RaceOutcome outcome() const { return outcome_; }
  const std::string& reason() const { return reason_; }
  const TailGuard& tail() const { return tail_; }
  bool vetoed() const { return vetoed_; }  // lost by its rare slow steps
  uint64_t counted() const { return ratios_.size(); }
  double Estimate() const;  // median log ratio of the counted pairs, cut short ones among them
  // The same of the last 63 pairs: what the next pair's residual is taken against.
  double RecentEstimate() const;
  double StandardError() const;
  // Log ratios of one job's counted pairs.
  std::vector<double> RatiosOf(SessionId job) const;
  // On the device of one job; of all pairs where it gave none.
  double MedianChampionNs(SessionId job = 0) const;
  double MedianChallengerNs(SessionId job = 0) const;

  RaceRecord Record(SessionId session, Moment ended) const;

 private:
  void Count(double ratio, double scale, double accept, double drop, SessionId job);
  void WatchTail(double ratio, double scale);
  void WatchExcluded(const PairSample& pair, double scale);
  void Decide(bool far_slower);
  void DecideWon();
  bool Shown() const;  // all pairs together show a gain that counts
  std::string GoneText() const;
  Interval IntervalWithVerdict() const;
  bool Shared() const;
  void EndAtLimit();
  double MedianNs(double PairSample::*arm, SessionId job) const;
  void End(RaceOutcome outcome, const std::string& reason);

  RaceId id_;
  RaceTerms terms_;
  Plan champion_, challenger_;
  Moment started_;
  ClippedBet accept_, drop_;
  RaceParts parts_;
  TailGuard tail_;
  TailGuard excluded_tail_;  // of the pairs that are no evidence
  std::vector<PairSample> pairs_;
  std::vector<double> ratios_,
      scales_;                     // of counted pairs; an aborted one has a ratio of kAbortedRatio
  std::vector<SessionId> givers_;  // of counted pairs
  uint32_t far_slower_ = 0;
  bool won_ = false;
  uint64_t proven_at_ = 0;  // the pair at which it was won
  bool vetoed_ = false;
  bool ended_ = false;
  RaceOutcome outcome_ = RaceOutcome::kUndecided;
  std::string reason_;
};

}  // namespace blazed::planner
