#include "daemon/planner/dwell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::max();
constexpr double kClaimed = 0.02;

// The later half of a dwell under AR(1) noise of 1.5 % and 0.5, one step in a hundred held up.
Dwell Draw(double log_time, Random& random, double& noise) {
  std::vector<double> steps;
  for (int i = 0; i < 64; ++i) {
    noise = 0.5 * noise + 0.015 * std::sqrt(0.75) * random.Normal();
    const double held_up = random.Uniform() < 0.01 ? 1 + 4 * random.Uniform() : 0;
    if (i >= 32) steps.push_back(1e7 * std::exp(log_time + noise + held_up));
  }
  return ReadDwell(steps);
}

struct Ended {
  DwellTest::State state;
  size_t blocks;
};

Ended RunBlocks(double saved, uint64_t seed, bool suspected = false) {
  Random random(seed);
  double noise = 0;
  DwellTerms terms = DwellsWithin(1e7, kNoLimit, kNoLimit);
  terms.suspected = suspected;
  DwellTest test(terms, kClaimed);
  while (test.state() == DwellTest::State::kRunning) {
    const Dwell champion = Draw(0, random, noise);
    test.Add(champion, Draw(-saved, random, noise));
  }
  return {test.state(), test.ratios().size()};
}

TEST(DwellTest, ConfirmsAWinThatStaysInAFewBlocks) {
  int gone = 0;
  double blocks = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Ended end = RunBlocks(kClaimed, seed);
    gone += end.state == DwellTest::State::kGone ? 1 : 0;
    blocks += static_cast<double>(end.blocks);
  }
  EXPECT_LE(gone, 6) << "seeds 0 to 299";
  EXPECT_LE(blocks / 300, 5) << "seeds 0 to 299";
}

TEST(DwellTest, FindsAWinGoneThatFadedAfterEachSwitch) {
  int gone = 0, there = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Ended end = RunBlocks(0.2 * kClaimed, seed);
    gone += end.state == DwellTest::State::kGone ? 1 : 0;
    there += end.state == DwellTest::State::kThere ? 1 : 0;
  }
  EXPECT_GE(gone, 270) << "seeds 0 to 299";
  EXPECT_LE(there, 15) << "seeds 0 to 299";
}

TEST(DwellTest, AsksForMoreUnderSuspicion) {
  int there = 0;
  double with = 0, without = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    there += RunBlocks(0.2 * kClaimed, seed, true).state == DwellTest::State::kThere ? 1 : 0;
    with += static_cast<double>(RunBlocks(kClaimed, seed, true).blocks);
    without += static_cast<double>(RunBlocks(kClaimed, seed).blocks);
  }
  EXPECT_LE(there, 3) << "seeds 0 to 299";
  EXPECT_GT(with, without);
}

TEST(DwellTest, NeedsTwoBlocksWhereNothingMoves) {
  const Dwell slow = ReadDwell(std::vector<double>(32, 1e7));
  const Dwell quick = ReadDwell(std::vector<double>(32, 1e7 * std::exp(-kClaimed)));
  DwellTest test(DwellsWithin(1e7, kNoLimit, kNoLimit), kClaimed);
  test.Add(slow, quick);
  EXPECT_EQ(test.state(), DwellTest::State::kRunning);
  test.Add(slow, quick);
  EXPECT_EQ(test.state(), DwellTest::State::kThere);
}

TEST(DwellsWithin, FitsIntoWhatMayBeSpent) {
  const DwellTerms full = DwellsWithin(1e7, kNoLimit, kNoLimit);
  EXPECT_EQ(full.steps, 64u);
  EXPECT_EQ(full.blocks, 8u);
  EXPECT_EQ(full.cut, "");
  const DwellTerms fewer = DwellsWithin(1e9, 640e9, kNoLimit);
  EXPECT_EQ(fewer.steps, 64u);
  EXPECT_EQ(fewer.blocks, 5u);
  EXPECT_EQ(fewer.cut, "cut to at most 5 blocks of twice 64 steps by what was left to spend");
  const DwellTerms shorter = DwellsWithin(1e7, kNoLimit, 300);
  EXPECT_EQ(shorter.steps, 32u);
  EXPECT_EQ(shorter.blocks, 4u);
}

TEST(DwellsWithin, LeavesThemOutWhereStepsAreSlow) {
  const DwellTerms none = DwellsWithin(5e9, 450e9, kNoLimit);
  EXPECT_EQ(none.steps, 0u);
  EXPECT_EQ(none.cut,
            "long dwells were left out: 256 steps are more than what was left to spend on them");
  EXPECT_EQ(DwellTest(none, kClaimed).state(), DwellTest::State::kUndecided);
  EXPECT_EQ(DwellsWithin(1e7, std::nan(""), kNoLimit).steps, 0u);
  EXPECT_EQ(DwellsWithin(0, kNoLimit, 0).steps, 0u);
}

TEST(ReadDwell, IsNothingOfLessThanEightSteps) {
  EXPECT_EQ(ReadDwell(std::vector<double>(7, 1e7)).step_ns, 0);
  EXPECT_EQ(ReadDwell(std::vector<double>(8, 1e7)).step_ns, 1e7);
}

}  // namespace
}  // namespace blazed::planner
