#include "daemon/planner/race.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/planner/interval.h"
#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

constexpr double kScale = 0.01;

PairSample Ratio(double log_ratio) {
  PairSample p;
  p.champion_ns = 1e7;
  p.challenger_ns = 1e7 * std::exp(-log_ratio);
  return p;
}

Race Open(RaceTerms terms = {}) { return Race(1, terms, {}, {{0, 1}}, Moment{}); }

// A symmetric noise around `gain`, from one seed.
void RunNoise(Race& race, double gain, uint64_t seed, int pairs = 4000) {
  Random random(seed);
  for (int i = 0; i < pairs && !race.ended(); ++i) {
    race.Add(Ratio(gain + kScale * random.Normal()), kScale);
  }
}

TEST(Race, AcceptsAClearWin) {
  Race race = Open();
  RunNoise(race, 0.02, 3);
  EXPECT_EQ(race.outcome(), RaceOutcome::kWon) << race.reason();
  EXPECT_NEAR(race.Estimate(), 0.02, 0.01);
}

TEST(Race, DropsAnEqualChallenger) {
  int dropped = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Race race = Open();
    RunNoise(race, 0, seed);
    EXPECT_NE(race.outcome(), RaceOutcome::kWon) << "seed " << seed;
    dropped += race.outcome() == RaceOutcome::kLost ? 1 : 0;
  }
  EXPECT_GE(dropped, 38);
}

TEST(Race, DropsAFarSlowerChallengerAfterTwoPairs) {
  Race race = Open();
  race.Add(Ratio(-0.06), kScale);
  EXPECT_FALSE(race.ended());
  race.Add(Ratio(-0.06), kScale);
  EXPECT_EQ(race.outcome(), RaceOutcome::kLost);
  EXPECT_EQ(
      race.reason(),
      "two pairs in a row were slower by more than five times the noise, so it was not tried on");
}

PairSample Excluded(double log_ratio) {
  PairSample pair = Ratio(log_ratio);
  pair.excluded = true;
  return pair;
}

TEST(Race, LeavesAPlanWhoseExcludedPairsAreFarSlowerAgainAndAgain) {
  Race race = Open();
  int pairs = 0;
  for (; pairs < 100 && !race.ended(); ++pairs) race.Add(Excluded(-0.4), kScale);
  EXPECT_LE(pairs, 10);
  EXPECT_EQ(race.outcome(), RaceOutcome::kUndecided) << "no evidence, no verdict";
  EXPECT_NE(race.reason().find("far slower again and again"), std::string::npos) << race.reason();
  EXPECT_EQ(race.counted(), 0u);
}

TEST(Race, EndsNoRaceOverEventsThatStrikeEitherArm) {
  int left = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Race race = Open();
    for (int i = 0; i < 500 && !race.ended(); ++i) {
      race.Add(Excluded(random.Coin() ? 3 : -3), kScale);
    }
    left += race.ended() ? 1 : 0;
  }
  EXPECT_LE(left, 15) << "of 200, where one in twenty is the bound";
}

TEST(Race, DoesNotEndALongRaceOverTwoPairsThatTheMachineHeldUp) {
  Race race = Open();
  for (int i = 0; i < 18; ++i) race.Add(Ratio(0.0065), kScale);
  race.Add(Ratio(-0.06), kScale);
  race.Add(Ratio(-0.06), kScale);
  EXPECT_FALSE(race.ended()) << race.reason();
}

TEST(Race, CountsACutShortChallengerAsALoss) {
  Race with = Open(), without = Open();
  PairSample cut = Ratio(0);
  cut.aborted = true;
  with.Add(cut, kScale);
  without.Add(Ratio(0.02), kScale);
  EXPECT_LT(with.Record(1, {}).log_e_accept, 0);
  EXPECT_GT(without.Record(1, {}).log_e_accept, 0);
  with.Add(cut, kScale);
  EXPECT_EQ(with.outcome(), RaceOutcome::kLost);
}

TEST(Race, LeavesAnExcludedPairOutWhicheverArmWasFaster) {
  for (double ratio : {-0.5, 0.5}) {
    Race race = Open();
    PairSample p = Ratio(ratio);
    p.excluded = true;
    race.Add(p, kScale);
    const RaceRecord record = race.Record(1, {});
    EXPECT_EQ(record.log_e_accept, 0);
    EXPECT_EQ(record.log_e_drop, 0);
    EXPECT_EQ(record.pairs.size(), 1u);
    EXPECT_EQ(race.counted(), 0u);
  }
}

TEST(Race, EndsUndecidedAtItsCap) {
  RaceTerms terms;
  terms.max_pairs = 64;
  Race race = Open(terms);
  // Midway between the deltas neither process grows.
  for (int i = 0; i < 64; ++i) race.Add(Ratio(0.005 + (i % 2 == 0 ? 0.03 : -0.03)), kScale);
  EXPECT_TRUE(race.ended());
  EXPECT_EQ(race.outcome(), RaceOutcome::kUndecided);
}

// Where one step in a hundred is held up, one unit in twelve of eight steps is.
TEST(Race, TakesMorePairsInARowForAFarSlowerPlanWhereUnitsAreLong) {
  for (const auto& [timed, in_row] : {std::pair(1u, 2u), {8u, 4u}}) {
    RaceTerms terms;
    terms.unit = {2, timed};
    Race race = Open(terms);
    const auto far_slower = [&](uint32_t pairs) {
      for (uint32_t i = 0; i < pairs; ++i) race.Add(Ratio(-1), kScale);
    };
    far_slower(in_row - 1);
    EXPECT_FALSE(race.ended()) << timed;
    race.Add(Ratio(0.0), kScale);
    race.Add(Ratio(0.1), kScale);
    far_slower(1);
    EXPECT_FALSE(race.ended()) << timed;
    Race another = Open(terms);
    for (uint32_t i = 0; i < in_row; ++i) another.Add(Ratio(-1), kScale);
    EXPECT_TRUE(another.ended()) << timed;
    EXPECT_EQ(another.outcome(), RaceOutcome::kLost);
    EXPECT_NE(another.reason().find("pairs in a row"), std::string::npos) << another.reason();
  }
}

TEST(Race, EndsWhereEveryPairIsExcluded) {
  RaceTerms terms;
  terms.max_pairs = 64;
  Race race = Open(terms);
  PairSample p = Ratio(0.5);
  p.excluded = true;
  for (int i = 0; i < 1000; ++i) race.Add(p, kScale);
  race.Add(Ratio(0), kScale);
  EXPECT_TRUE(race.ended());
  EXPECT_EQ(race.outcome(), RaceOutcome::kUndecided);
}

TEST(Race, BoundsNothingWhereEveryPairIsExcluded) {
  Race race = Open();
  PairSample p = Ratio(0.5);
  p.excluded = true;
  race.Add(p, kScale);
  const Interval saving = SavingOf(race.Record(1, {}).effect);
  EXPECT_EQ(saving.estimate, 0);
  EXPECT_TRUE(IsOpenBelow(saving));
  EXPECT_TRUE(IsOpenAbove(saving));
}

TEST(Race, GoesOnToItsLeastPairsOnceWon) {
  RaceTerms terms;
  terms.least_pairs = 40;
  Race race = Open(terms);
  RunNoise(race, 0.1, 5);
  EXPECT_EQ(race.counted(), 40u);
  EXPECT_EQ(race.outcome(), RaceOutcome::kWon);
}

RaceTerms OfAReplication(uint64_t attempt = 1) {
  RaceTerms terms;
  terms.alpha = SplitAlpha(0.05, attempt);
  terms.beta = 0.01;
  terms.least_pairs = 40;
  return terms;
}

TEST(Race, GivesAWinNoIntervalThatHoldsWhatItsVerdictExcludes) {
  int won = 0, went_on = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (uint64_t attempt : {1, 3}) {
      Race race = Open(OfAReplication(attempt));
      RunNoise(race, 0.9 * kScale, seed);
      if (race.outcome() != RaceOutcome::kWon) continue;
      ++won;
      went_on += race.reason().find("proven at pair") != std::string::npos ? 1 : 0;
      const Interval effect = race.Record(1, {}).effect;
      EXPECT_GE(effect.low, race.terms().delta0) << seed;
      EXPECT_GE(effect.high, effect.estimate) << seed;
      EXPECT_GT(effect.estimate, race.terms().delta0) << seed;
    }
  }
  EXPECT_GE(won, 300);
  EXPECT_GE(went_on, 200);
}

// Of the bet on "more than delta0", an interval at the same alpha has half for either end.
TEST(Race, KeepsNothingOutOfItsIntervalThatItsVerdictRefutesAtALargerAlpha) {
  RaceTerms terms;
  terms.alpha = terms.interval_alpha;
  Race race = Open(terms);
  for (int i = 0; i < 40 && !race.ended(); ++i) race.Add(Ratio(0.1), kScale);
  ASSERT_EQ(race.outcome(), RaceOutcome::kWon);
  EXPECT_LT(race.Record(1, {}).effect.low, terms.delta0);
}

TEST(Race, NamesThePairThatProvedAWin) {
  Race race = Open(OfAReplication());
  for (int i = 0; i < 40; ++i) race.Add(Ratio(0.1), kScale);
  ASSERT_EQ(race.outcome(), RaceOutcome::kWon);
  // The mean of (1 + bet)^n over the six bets is 35 for n = 7 and 64 for n = 8; 40 are asked for.
  EXPECT_EQ(race.reason(),
            "faster by more than the least gain that counts, as was proven at pair 8");
}

TEST(Race, TakesNoWinThatItsPairsTogetherDoNotShow) {
  for (bool to_the_cap : {false, true}) {
    RaceTerms terms = OfAReplication();
    if (to_the_cap) terms.max_pairs = 40;
    Race race = Open(terms);
    for (int i = 0; i < 10; ++i) race.Add(Ratio(0.1), kScale);
    for (int i = 0; i < 4000 && !race.ended(); ++i) {
      race.Add(Ratio(to_the_cap ? 0.0 : -0.02), kScale);
    }
    EXPECT_EQ(race.outcome(), RaceOutcome::kUndecided) << race.reason();
    EXPECT_NE(race.reason().find("faster at pair 8, and not over all "), std::string::npos)
        << race.reason();
    EXPECT_LE(race.counted(), 100u);
  }
}

TEST(Race, TakesNoPairAfterItsEnd) {
  Race race = Open();
  race.Abandon("the session ended");
  race.Add(Ratio(1), kScale);
  EXPECT_EQ(race.counted(), 0u);
  EXPECT_EQ(race.reason(), "the session ended");
}

TEST(Race, SplitsAlphaSoThatAllRacesTogetherStayBelowIt) {
  double sum = 0;
  for (uint64_t j = 1; j <= 100000; ++j) sum += SplitAlpha(0.05, j);
  EXPECT_LE(sum, 0.05);
  EXPECT_NEAR(sum, 0.05, 1e-6);
  EXPECT_DOUBLE_EQ(SplitAlpha(0.05, 1), 0.025);
}

TEST(Race, CapsItsPairsByNoiseAndNeverBelowSixtyFour) {
  EXPECT_EQ(PairCap(0.05, 0.0025, 0.0075, 0.0001, 4000), 64u);
  EXPECT_EQ(PairCap(0.05, 0.0025, 0.0075, 1.0, 4000), 4000u);
  // 4 ln(6/0.05) (0.015/0.005)^2 = 172.4
  EXPECT_EQ(PairCap(0.05, 0.0025, 0.0075, 0.015, 4000), 173u);
  EXPECT_EQ(PairCap(0.05, 0.0025, 0.0075, 0.0001, 10), 10u);
}

// 33 equal challengers, each raced to its end: the error split bounds the whole campaign.
TEST(Race, HoldsTheSplitErrorOverAWholeCampaign) {
  constexpr int kCampaigns = 60, kChallengers = 33;
  int wrong = 0;
  for (int c = 0; c < kCampaigns; ++c) {
    bool accepted = false;
    for (int j = 1; j <= kChallengers; ++j) {
      RaceTerms terms;
      terms.delta0 = 0;
      terms.delta1 = 0.005;
      terms.alpha = SplitAlpha(0.05, static_cast<uint64_t>(j));
      Race race = Open(terms);
      RunNoise(race, 0, static_cast<uint64_t>(c * 100 + j), 400);
      accepted = accepted || race.outcome() == RaceOutcome::kWon;
    }
    wrong += accepted ? 1 : 0;
  }
  EXPECT_LE(wrong, kCampaigns * 0.05 + 3 * std::sqrt(kCampaigns * 0.05 * 0.95))
      << "seeds 1 to 5933";
}

}  // namespace
}  // namespace blazed::planner
