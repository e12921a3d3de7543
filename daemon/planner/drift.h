// After settling: short bursts of champion against fallback on a widening gap, and the detector
// that demotes.
//
// The detector is a Shiryaev-Roberts e-detector (Shin, Ramdas and Rinaldo): mean pairs to a false
// demotion are at least kDemoteAt.
#pragma once

#include "daemon/planner/eprocess.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

inline constexpr uint64_t kFirstGapSteps = 250, kLargestGapSteps = 16000;

// Gaps are those of a host that waits in each step times `factor`, as a check costs so much more.
DriftTimer FirstGap(uint64_t settlement, uint64_t factor);
// Gap that a process which did not run under this timer before starts with. Steps that have passed
// stay counted: else jobs that come often enough would put the next check off for ever.
DriftTimer ForNewProcess(DriftTimer timer, uint64_t factor = 1);
DriftTimer AfterOk(DriftTimer timer, uint64_t factor = 1);            // gap x 2
DriftTimer AfterInconclusive(DriftTimer timer, uint64_t factor = 1);  // gap / 2
// Step times moved and pairs do not tell yet whether the plan did: the first gap, as the detector
// keeps what it has and a second check may end it.
DriftTimer AfterUnclearAlarm(DriftTimer timer, uint64_t factor = 1);
// Takes steps off; true when a burst is due.
bool CountSteps(DriftTimer& timer, uint64_t steps);

class DriftDetector {
 public:
  static constexpr double kDemoteAt = 2000;
  static constexpr double kOkAt = 20;
  static constexpr uint64_t kBurstPairs = 60;

  void StartBurst();
  // log(fallback / champion) of a pair: positive while the champion is the faster one.
  void Add(double ratio, double scale);

  enum class State { kRunning, kOk, kDemote, kInconclusive };
  State state() const;

 private:
  void Bet(double score);
  double detector_ = 0;
  ClippedBet still_ahead_;
  bool ok_ = false;
};

}  // namespace blazed::planner
