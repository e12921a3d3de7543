// Long dwells: one look, before a win is settled, at whether it is there when a plan runs for long.
//
// Pairs switch plans all the time, and what a switch leaves behind for longer than a step (clocks,
// heat, an allocator that grows) is in every one of them, also where the first step after a switch
// is not counted. A dwell is one plan alone for many steps, of which the later half counts; a block
// is a dwell of either plan in an order drawn by a coin. A sequential test asks of each block
// whether it looks more like the win that pairs showed or like the fifth of it that is left of a
// switch's aftermath by then. It can only speak against a win, never for one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blazed::planner {

struct DwellTerms {
  uint32_t steps = 0;      // of one dwell; 0: left out
  uint32_t blocks = 0;     // at most
  std::string cut;         // why it is shorter than it should be or left out; empty: neither
  bool suspected = false;  // an earlier win was not there in dwells: now it has to be seen
};

// As much of 8 blocks of twice 64 steps as fits into what may be spent. `long_units`: what is
// counted here as steps are units of several steps, and half as many are a dwell.
DwellTerms DwellsWithin(double step_ns, double budget_ns, double budget_steps,
                        bool long_units = false);

// One dwell in short: the median step of its later half, and how far that median may be off.
struct Dwell {
  double step_ns = 0;
  double variance = 0;  // of its logarithm
};

// `step_ns`: steps of the later half, in order. No dwell comes of fewer than 8.
Dwell ReadDwell(const std::vector<double>& step_ns);

class DwellTest {
 public:
  DwellTest(DwellTerms terms, double claimed) : terms_(std::move(terms)), claimed_(claimed) {}

  void Add(const Dwell& champion, const Dwell& challenger);

  enum class State { kRunning, kThere, kGone, kUndecided };
  State state() const;
  const DwellTerms& terms() const { return terms_; }
  double claimed() const { return claimed_; }
  const std::vector<double>& ratios() const { return ratios_; }  // log(champion / challenger)

 private:
  double Evidence() const;  // log likelihood ratio of "there" against "gone"

  DwellTerms terms_;
  double claimed_;  // log ratio
  std::vector<double> ratios_, variances_;
};

}  // namespace blazed::planner
