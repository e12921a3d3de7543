#include "daemon/planner/dwell.h"

#include <algorithm>
#include <cmath>

#include "daemon/planner/counted.h"
#include "daemon/planner/scale.h"

namespace blazed::planner {
namespace {

constexpr uint32_t kDwellSteps = 64, kShortDwellSteps = 32;
constexpr uint32_t kMostBlocks = 8, kLeastBlocks = 4;
constexpr std::ptrdiff_t kChunk = 8;  // steps; medians of such chunks hardly hang together
// What a switch leaves behind is at a fifth in the later half where it fades with a constant of 30
// steps: mean of exp(-t/30) over steps 32 to 63.
constexpr double kLeftOver = 0.2;
// Natural logarithms of odds: one true win in 150 is given up, one in 55 that is gone gets through.
constexpr double kGoneAt = -5, kThereAt = 4;
constexpr double kSeenAt = 8;  // under suspicion: one in 3000
constexpr double kReach = 3;   // standard deviations that one block may count for
constexpr double kLeastVariance = 1e-8;
constexpr double kHangTogether = 1.3;  // neighbouring chunks at a step-to-step correlation of 0.5
constexpr size_t kLeastToLose = 3;     // blocks; two are wrong together too often

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Variance(const std::vector<double>& values) {
  const double mean = Mean(values);
  double sum = 0;
  for (double v : values) sum += (v - mean) * (v - mean);
  return values.size() < 2 ? 0 : sum / static_cast<double>(values.size() - 1);
}

// One dwell in thirty meets a move of the machine that is larger than any win.
double RobustVariance(const std::vector<double>& values) {
  const double middle = Median(values);
  std::vector<double> distances;
  for (double v : values) distances.push_back(std::fabs(v - middle));
  const double sd = 1.4826 * Median(distances);
  return sd * sd;
}

}  // namespace

DwellTerms DwellsWithin(double step_ns, double budget_ns, double budget_steps, bool long_units) {
  DwellTerms terms;
  // Written so that a budget that is no number is none.
  const double in_time = step_ns > 0 ? budget_ns / step_ns : budget_steps;
  const double steps = budget_steps < in_time ? budget_steps : in_time;
  for (const uint32_t dwell : {kDwellSteps, kShortDwellSteps}) {
    const double blocks = std::floor(std::max(steps, 0.0) / (2.0 * dwell));
    if (!(blocks >= kLeastBlocks) || (long_units && dwell == kDwellSteps)) continue;
    terms.steps = dwell;
    terms.blocks = static_cast<uint32_t>(std::min<double>(blocks, kMostBlocks));
    if ((dwell != kDwellSteps && !long_units) || terms.blocks != kMostBlocks) {
      terms.cut = "cut to at most " + Counted(terms.blocks, "block") + " of twice " +
                  Counted(dwell, "step") + " by what was left to spend";
    }
    return terms;
  }
  terms.cut = "long dwells were left out: " + Counted(2 * kLeastBlocks * kShortDwellSteps, "step") +
              " are more than what was left to spend on them";
  return terms;
}

Dwell ReadDwell(const std::vector<double>& step_ns) {
  Dwell dwell;
  std::vector<double> medians;
  for (auto from = step_ns.begin(); step_ns.end() - from >= kChunk; from += kChunk) {
    medians.push_back(std::log(Median({from, from + kChunk})));
  }
  if (medians.empty()) return dwell;
  dwell.step_ns = Median(step_ns);
  dwell.variance = Variance(medians) / static_cast<double>(medians.size());
  return dwell;
}

void DwellTest::Add(const Dwell& champion, const Dwell& challenger) {
  ratios_.push_back(std::log(champion.step_ns / challenger.step_ns));
  variances_.push_back(champion.variance + challenger.variance);
}

double DwellTest::Evidence() const {
  // What moves between dwells shows in the blocks alone, what a few blocks hide by chance in their
  // chunks.
  double variance = std::max(kHangTogether * Mean(variances_), kLeastVariance);
  if (ratios_.size() >= kLeastBlocks) variance = std::max(variance, RobustVariance(ratios_));
  const double reach = kReach * std::sqrt(variance);
  const double middle = claimed_ * (1 + kLeftOver) / 2, apart = claimed_ * (1 - kLeftOver);
  double sum = 0;
  for (double ratio : ratios_) sum += std::clamp(ratio - middle, -reach, reach);
  return apart * sum / variance;
}

DwellTest::State DwellTest::state() const {
  if (terms_.steps == 0) return State::kUndecided;
  if (ratios_.size() < 2) return State::kRunning;
  const double evidence = Evidence();
  if (evidence >= (terms_.suspected ? kSeenAt : kThereAt)) return State::kThere;
  if (evidence <= kGoneAt && ratios_.size() >= kLeastToLose) return State::kGone;
  if (ratios_.size() < terms_.blocks) return State::kRunning;
  // What eight blocks cannot tell apart goes by what they look more like.
  return evidence < 0 ? State::kGone : State::kUndecided;
}

}  // namespace blazed::planner
