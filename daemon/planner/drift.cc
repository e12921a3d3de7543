#include "daemon/planner/drift.h"

#include <algorithm>
#include <cmath>

namespace blazed::planner {

DriftTimer FirstGap(uint64_t settlement, uint64_t factor) {
  const uint64_t gap = kFirstGapSteps * factor;
  return {settlement, gap, gap};
}

DriftTimer ForNewProcess(DriftTimer timer, uint64_t factor) {
  timer.gap_steps = std::max(kFirstGapSteps * factor, timer.gap_steps / 4);
  timer.steps_left = std::min(timer.steps_left, timer.gap_steps);
  return timer;
}

DriftTimer AfterOk(DriftTimer timer, uint64_t factor) {
  timer.gap_steps =
      factor * std::clamp(2 * (timer.gap_steps / factor), kFirstGapSteps, kLargestGapSteps);
  timer.steps_left = timer.gap_steps;
  return timer;
}

DriftTimer AfterInconclusive(DriftTimer timer, uint64_t factor) {
  timer.gap_steps = std::max(kFirstGapSteps * factor, timer.gap_steps / 2);
  timer.steps_left = timer.gap_steps;
  return timer;
}

DriftTimer AfterUnclearAlarm(DriftTimer timer, uint64_t factor) {
  timer.gap_steps = kFirstGapSteps * factor;
  timer.steps_left = timer.gap_steps;
  return timer;
}

bool CountSteps(DriftTimer& timer, uint64_t steps) {
  timer.steps_left -= std::min(timer.steps_left, steps);
  return timer.steps_left == 0;
}

void DriftDetector::StartBurst() {
  still_ahead_ = ClippedBet();
  ok_ = false;
}

void DriftDetector::Add(double ratio, double scale) { Bet(ClippedScore(ratio, scale)); }

void DriftDetector::Bet(double score) {
  still_ahead_.AddScore(score);
  const double e = 0.5 * (1 - 0.3 * score) + 0.5 * (1 - 0.8 * score);
  detector_ = (detector_ + 1) * e;
  if (still_ahead_.LogE() >= std::log(kOkAt) && detector_ < kDemoteAt) {
    ok_ = true;
    detector_ = 0;
  }
}

DriftDetector::State DriftDetector::state() const {
  if (detector_ >= kDemoteAt) return State::kDemote;
  if (ok_) return State::kOk;
  if (still_ahead_.count() >= kBurstPairs) return State::kInconclusive;
  return State::kRunning;
}

}  // namespace blazed::planner
