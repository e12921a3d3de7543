#include "daemon/planner/tail_guard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/planner/race.h"
#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

constexpr double kScale = 0.01, kWin = 0.01;
const double kThrice = std::log(3.0);

// Pairs of a plan that is `kWin` faster; each arm's step takes three times as long at its share.
// The number of pairs until the guard speaks, 0 where it does not.
int PairsToVeto(double own, double others, int pairs, uint64_t seed, double win = kWin) {
  Random random(seed);
  TailGuard guard;
  for (int i = 1; i <= pairs; ++i) {
    double ratio = win + kScale * random.Normal();
    if (random.Uniform() < own) ratio -= kThrice;
    if (random.Uniform() < others) ratio += kThrice;
    guard.Add(ratio, kScale, win);
    if (guard.Vetoes(win)) return i;
  }
  return 0;
}

int Vetoes(double own, double others, double win = kWin) {
  int count = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    count += PairsToVeto(own, others, 2000, seed, win) > 0 ? 1 : 0;
  }
  return count;
}

TEST(TailGuard, SpeaksAgainstAPlanWhoseSlowStepsAreItsOwn) {
  EXPECT_GE(Vetoes(0.05, 0.01), 195) << "seeds 0 to 199";
  EXPECT_GE(Vetoes(0.02, 0.01), 100) << "seeds 0 to 199";
}

// Slow steps that come under both plans alike are the machine's: at most one in twenty, ever.
TEST(TailGuard, IsQuietWhereBothPlansHaveThem) {
  EXPECT_LE(Vetoes(0.05, 0.05), 10 + 9) << "seeds 0 to 199";
  EXPECT_EQ(Vetoes(0, 0), 0) << "seeds 0 to 199";
  EXPECT_EQ(Vetoes(0, 0.05), 0) << "seeds 0 to 199";
}

// A plan that is a third faster stays worth its rare slow steps.
TEST(TailGuard, LetsAPlanBeThatSavesMoreThanItsSlowStepsCost) {
  EXPECT_EQ(Vetoes(0.02, 0, 0.4), 0) << "seeds 0 to 199";
  EXPECT_GE(Vetoes(0.5, 0, 0.4), 195) << "seeds 0 to 199";
}

// Where the noise is small beside the win, every ordinary pair lies far from zero.
TEST(TailGuard, TakesAClearWinForNoSlowStepOfTheOther) {
  TailGuard guard;
  for (int i = 0; i < 500; ++i) guard.Add(0.3, 0.001, 0.3);
  EXPECT_DOUBLE_EQ(guard.LogE(), 0);
}

TEST(TailGuard, CountsAStepThatWasCutShortAsSlow) {
  TailGuard guard;
  for (int i = 0; i < 8; ++i) guard.AddCutShort();
  EXPECT_TRUE(guard.Vetoes(kWin));
  EXPECT_EQ(guard.Story(),
            "its rare slow steps take back what it saves: of 8 pairs with one far slower step 8 "
            "were slow under it, in 8 pairs in all");
}

PairSample Ratio(double log_ratio) {
  PairSample pair;
  pair.champion_ns = 1e7;
  pair.challenger_ns = 1e7 * std::exp(-log_ratio);
  return pair;
}

// One pair in three is slow: the typical step wins every bet that is clipped.
TEST(TailGuard, EndsARaceThatTheTypicalStepWouldWin) {
  RaceTerms terms;
  terms.least_pairs = 60;
  Race race(1, terms, {}, {{0, 1}}, Moment{});
  for (int i = 0; !race.ended(); ++i) race.Add(Ratio(i % 3 == 2 ? 0.1 - kThrice : 0.1), kScale);
  EXPECT_EQ(race.outcome(), RaceOutcome::kLost);
  EXPECT_TRUE(race.vetoed());
  EXPECT_EQ(race.reason().find(kTailReason), 0u) << race.reason();
}

TEST(TailGuard, GoesOnOverTheRacesOfAPlan) {
  TailGuard earlier;
  for (int i = 0; i < 7; ++i) earlier.AddCutShort();
  ASSERT_FALSE(earlier.Vetoes(kWin));
  Race race(2, {}, {}, {{0, 1}}, Moment{});
  race.GoOnFrom(earlier);
  race.Add(Ratio(-kThrice), kScale);
  EXPECT_TRUE(race.vetoed());
}

}  // namespace
}  // namespace blazed::planner
