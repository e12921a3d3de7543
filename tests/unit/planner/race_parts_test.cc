#include "daemon/planner/race_parts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/planner/race.h"
#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

constexpr double kScale = 0.01;
constexpr SessionId kA = 11, kB = 12, kC = 13;

PairSample Ratio(double log_ratio, double level = 1e7) {
  PairSample p;
  p.champion_ns = level;
  p.challenger_ns = level * std::exp(-log_ratio);
  return p;
}

Race Open(RaceTerms terms = {}) { return Race(1, terms, {}, {{0, 1}}, Moment{}); }

RaceTerms Replication() {
  RaceTerms terms;
  terms.kind = RaceKind::kReplication;
  return terms;
}

TEST(RaceParts, MultipliesTheJobsInsideEachBet) {
  // A product of mixtures would be smaller than the mixture of products.
  Race pooled = Open(), alone = Open();
  for (int i = 0; i < 3; ++i) {
    pooled.Add(Ratio(0.02), kScale, kA);
    pooled.Add(Ratio(0.02), kScale, kB);
    alone.Add(Ratio(0.02), kScale, kA);
  }
  Race same = Open();
  for (int i = 0; i < 6; ++i) same.Add(Ratio(0.02), kScale, kA);
  EXPECT_DOUBLE_EQ(pooled.Record(1, {}).log_e_accept, same.Record(1, {}).log_e_accept);
  EXPECT_GT(pooled.Record(1, {}).log_e_accept, 2 * alone.Record(1, {}).log_e_accept);
}

TEST(RaceParts, KnowsWhatEachJobGave) {
  Race race = Open();
  race.Add(Ratio(0), kScale, kA);
  race.Add(Ratio(0), kScale, kB);
  race.Add(Ratio(0), kScale, kB);
  PairSample flagged = Ratio(0);
  flagged.excluded = true;
  race.Add(flagged, kScale, kC);
  EXPECT_EQ(race.parts().GivenBy(kA), 1u);
  EXPECT_EQ(race.parts().GivenBy(kB), 2u);
  EXPECT_EQ(race.parts().GivenBy(kC), 0u) << "an excluded pair is no evidence";
  const RaceRecord record = race.Record(kA, {});
  ASSERT_EQ(record.pairs.size(), 4u);
  EXPECT_EQ(record.pairs[0].session, 0u) << "the race's own session";
  EXPECT_EQ(record.pairs[1].session, kB);
  EXPECT_EQ(record.pairs[3].session, kC);
}

TEST(RaceParts, TakesTheBetWithoutOneJobBackExactly) {
  ClippedBet all, part, rest;
  Random random(7);
  for (int i = 0; i < 50; ++i) {
    const double score = 2 * random.Uniform() - 1;
    all.AddScore(score);
    (i % 3 == 0 ? part : rest).AddScore(score);
  }
  EXPECT_NEAR(all.Without(part).LogE(), rest.LogE(), 1e-9);
  EXPECT_EQ(all.Without(part).count(), rest.count());
}

TEST(RaceParts, NoneOfThreeGivesMoreThanHalfOfAWin) {
  Race race = Open();
  race.Add(Ratio(0.03), kScale, kB);
  race.Add(Ratio(0.03), kScale, kC);
  for (int i = 0; i < 20; ++i) race.Add(Ratio(0.03), kScale, kA);
  EXPECT_FALSE(race.ended()) << "20 of 22 pairs are of one job";
  EXPECT_GT(race.Record(1, {}).log_e_accept, std::log(1 / race.terms().alpha));
  while (!race.ended()) {
    ASSERT_LT(race.counted(), 60u);
    race.Add(Ratio(0), kScale, race.counted() % 2 == 0 ? kB : kC);
  }
  EXPECT_EQ(race.outcome(), RaceOutcome::kWon);
  EXPECT_EQ(2 * race.parts().GivenBy(kA), race.counted());
}

TEST(RaceParts, TwoJobsMayShareAsTheyLike) {
  Race race = Open();
  race.Add(Ratio(0.03), kScale, kB);
  for (int i = 0; i < 20 && !race.ended(); ++i) race.Add(Ratio(0.03), kScale, kA);
  EXPECT_EQ(race.outcome(), RaceOutcome::kWon);
}

TEST(RaceParts, AJobThatLeftHoldsNothingUp) {
  Race race = Open();
  race.Add(Ratio(0.03), kScale, kB);
  race.Add(Ratio(0.03), kScale, kC);
  for (int i = 0; i < 20; ++i) race.Add(Ratio(0.03), kScale, kA);
  ASSERT_FALSE(race.ended());
  race.Leave(kC);
  race.Add(Ratio(0.03), kScale, kA);
  EXPECT_EQ(race.outcome(), RaceOutcome::kWon);
  EXPECT_EQ(race.parts().GivenBy(kC), 1u) << "what it gave stays";
}

TEST(RaceParts, OneJobAloneDoesNotSettle) {
  // All of the win lies in A; B sees none.
  Race race = Open(Replication());
  for (int i = 0; i < 30; ++i) {
    race.Add(Ratio(0.03), kScale, kA);
    race.Add(Ratio(0.0025), kScale, kB);
  }
  EXPECT_FALSE(race.ended());
  EXPECT_GT(race.Record(1, {}).log_e_accept, std::log(1 / race.terms().alpha));
  for (int i = 0; i < 30 && !race.ended(); ++i) race.Add(Ratio(0.02), kScale, kB);
  EXPECT_EQ(race.outcome(), RaceOutcome::kWon) << "B's pairs speak for it as well by now";
  EXPECT_GE(race.parts().GivenBy(kB), 31u);
}

TEST(RaceParts, OneJobAloneEndsUndecidedAtTheCap) {
  RaceTerms terms = Replication();
  terms.max_pairs = 64;
  Race race = Open(terms);
  for (int i = 0; i < 32; ++i) {
    race.Add(Ratio(0.03), kScale, kA);
    race.Add(Ratio(0.0025), kScale, kB);
  }
  ASSERT_TRUE(race.ended());
  EXPECT_EQ(race.outcome(), RaceOutcome::kUndecided);
  EXPECT_EQ(race.reason(), "faster in one job and not in the others, with 64 pairs");
}

TEST(RaceParts, ASearchRaceNeedsNoBacking) {
  Race race = Open();
  for (int i = 0; i < 30 && !race.ended(); ++i) {
    race.Add(Ratio(0.03), kScale, kA);
    race.Add(Ratio(0.0025), kScale, kB);
  }
  EXPECT_EQ(race.outcome(), RaceOutcome::kWon);
}

TEST(RaceParts, LevelsOfDevicesAreNoEvidence) {
  Race near = Open(), far = Open();
  Random random(3);
  for (int i = 0; i < 12; ++i) {
    const double ratio = 0.004 + kScale * random.Normal();
    const SessionId job = i % 2 == 0 ? kA : kB;
    near.Add(Ratio(ratio), kScale, job);
    far.Add(Ratio(ratio, i % 2 == 0 ? 1e7 : 3e7), kScale, job);
  }
  EXPECT_NEAR(near.Record(1, {}).log_e_accept, far.Record(1, {}).log_e_accept, 1e-9);
  EXPECT_NEAR(far.MedianChampionNs(kA), 1e7, 1);
  EXPECT_NEAR(far.MedianChampionNs(kB), 3e7, 1);
  EXPECT_EQ(far.RatiosOf(kB).size(), 6u);
}

// The same null in four jobs, looked at after every pair: the product holds the error of one race.
TEST(RaceParts, HoldsTheErrorOfOneRaceWhateverJobsGiveThePairs) {
  constexpr int kRuns = 400;
  int wrong = 0;
  for (int run = 0; run < kRuns; ++run) {
    RaceTerms terms;
    terms.delta0 = 0;
    terms.delta1 = 0.005;
    terms.beta = 1e-300;
    terms.max_pairs = 500;
    Race race = Open(terms);
    Random random(static_cast<uint64_t>(run));
    while (!race.ended()) race.Add(Ratio(kScale * random.Normal()), kScale, 1 + random.Below(4));
    wrong += race.outcome() == RaceOutcome::kWon ? 1 : 0;
  }
  EXPECT_LE(wrong, kRuns * 0.05 + 3 * std::sqrt(kRuns * 0.05 * 0.95)) << "seeds 0 to 399";
}

}  // namespace
}  // namespace blazed::planner
