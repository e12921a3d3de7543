#include "daemon/planner/samples.h"

#include <gtest/gtest.h>

#include <cmath>

namespace blazed::planner {
namespace {

LeaseDone Done(std::vector<UnitTime> units) {
  LeaseDone done;
  done.units = std::move(units);
  return done;
}

TEST(ReadLease, PutsEachUnitWhereItsCoinSays) {
  std::string why;
  const auto pairs =
      ReadLease({{false, true}, 2}, Done({{10, 0, 0}, {20, 0, 0}, {30, 0, 0}, {40, 0, 0}}), &why);
  ASSERT_TRUE(pairs.has_value()) << why;
  EXPECT_EQ((*pairs)[0].champion_ns, 5);
  EXPECT_EQ((*pairs)[0].challenger_ns, 10);
  EXPECT_EQ((*pairs)[1].champion_ns, 20);
  EXPECT_EQ((*pairs)[1].challenger_ns, 15);
}

TEST(ReadLease, RefusesMoreUnitsThanTheSchedule) {
  std::string why;
  EXPECT_FALSE(ReadLease({{false}, 1}, Done({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}), &why).has_value());
  EXPECT_EQ(why, "more units than the schedule has");
}

TEST(ReadLease, RefusesACompleteLeaseWithUnitsMissing) {
  std::string why;
  EXPECT_FALSE(ReadLease({{false, false}, 1}, Done({{1, 0, 0}, {1, 0, 0}}), &why).has_value());
}

TEST(ReadLease, RefusesDurationsThatCannotBe) {
  std::string why;
  for (uint64_t bad : {uint64_t{0}, kLongestUnitNs + 1, ~uint64_t{0}}) {
    EXPECT_FALSE(ReadLease({{false}, 1}, Done({{bad, 0, 0}, {5, 0, 0}}), &why).has_value());
  }
}

TEST(ReadLease, TakesAUnitOfManyStepsForOneOfAsManyHours) {
  std::string why;
  const UnitTime unit{8 * kLongestUnitNs, 0, 0};
  EXPECT_TRUE(ReadLease({{false}, 8, 2}, Done({unit, unit}), &why).has_value()) << why;
  EXPECT_FALSE(ReadLease({{false}, 7, 2}, Done({unit, unit}), &why).has_value());
}

TEST(ReadLease, KeepsTheDevicesTimesBesideTheHosts) {
  std::string why;
  const auto pairs = ReadLease({{true}, 8, 2}, Done({{80, 64, 0}, {96, 72, 0}}), &why);
  ASSERT_TRUE(pairs.has_value()) << why;
  EXPECT_EQ(pairs->front(), (PairSample{12, 10, true, false, false, 9, 8}));
  EXPECT_DOUBLE_EQ(LogRatio(pairs->front()), std::log(1.2)) << "the host's judge";
}

// How many of its steps ran is not known, so all of its time stands for the loss.
TEST(ReadLease, DoesNotSpreadACutShortUnitOverStepsThatNeverRan) {
  std::string why;
  const auto pairs = ReadLease({{false}, 8, 2}, Done({{80, 0, 0}, {5000, 0, kUnitAborted}}), &why);
  ASSERT_TRUE(pairs.has_value()) << why;
  EXPECT_EQ(pairs->front().challenger_ns, 5000);
  EXPECT_TRUE(pairs->front().aborted);
}

TEST(SignsOf, CountsTheDrainedPointBehindWarmSteps) {
  LeaseDone done = Done({{80, 0, 0}, {90, 0, 0}});
  done.drain_ns = 7;
  done.run_ahead = 3;
  const QueueSigns signs = SignsOf({{false}, 8, 2}, done);
  EXPECT_EQ(signs.points, 4);
  EXPECT_EQ(signs.drain_ns, 7);
  EXPECT_EQ(signs.units_ns, 170);
  EXPECT_EQ(signs.run_ahead, 3u);
  EXPECT_EQ(SignsOf({{false}, 1, 0}, done).points, 2);
}

TEST(ReadLease, LeavesAHalfPairOut) {
  LeaseDone done = Done({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}});
  done.complete = false;
  std::string why;
  const auto pairs = ReadLease({{false, false}, 1}, done, &why);
  ASSERT_TRUE(pairs.has_value());
  EXPECT_EQ(pairs->size(), 1u);
}

TEST(ReadLease, ExcludesAPairWhicheverArmIsFlagged) {
  std::string why;
  for (bool first : {false, true}) {
    const auto pairs =
        ReadLease({{false}, 1}, Done({{5, 0, first ? 1u : 0u}, {5, 0, first ? 0u : 1u}}), &why);
    ASSERT_TRUE(pairs.has_value());
    EXPECT_TRUE((*pairs)[0].excluded);
  }
}

TEST(ReadLease, MarksACutShortChallengerAndExcludesACutShortChampion) {
  std::string why;
  const auto challenger = ReadLease({{false}, 1}, Done({{5, 0, 0}, {0, 0, kUnitAborted}}), &why);
  ASSERT_TRUE(challenger.has_value());
  EXPECT_TRUE((*challenger)[0].aborted);
  EXPECT_FALSE((*challenger)[0].excluded);
  const auto champion = ReadLease({{false}, 1}, Done({{5, 0, kUnitAborted}, {5, 0, 0}}), &why);
  ASSERT_TRUE(champion.has_value());
  EXPECT_TRUE((*champion)[0].excluded);
}

TEST(ReadLease, CountsAChallengerCutShortBeforeItsChampionRan) {
  LeaseDone done = Done({{9, 0, kUnitAborted}});
  done.complete = false;
  std::string why;
  const auto loss = ReadLease({{true, true}, 1}, done, &why);
  ASSERT_TRUE(loss.has_value());
  ASSERT_EQ(loss->size(), 1u);
  EXPECT_TRUE((*loss)[0].aborted);
  const auto champion = ReadLease({{false, true}, 1}, done, &why);
  ASSERT_TRUE(champion.has_value());
  EXPECT_TRUE(champion->empty());
}

TEST(HoldOutliers, TrustsTwoPairsThatContradictEachOtherLess) {
  EXPECT_EQ(HoldOutliers({0.01, 0.03}, 0.01).scale, 0.01);
  EXPECT_EQ(HoldOutliers({0.08, -0.92}, 0.01).scale, 0.5);
}

TEST(HoldOutliers, HoldsEachOfManyPairsNearTheirMedian) {
  const RobustRatios held = HoldOutliers({0.01, 0.02, 0.03, -1, 5}, 0.01);
  EXPECT_DOUBLE_EQ(held.values[3], 0.02 - 0.03);
  EXPECT_DOUBLE_EQ(held.values[4], 0.02 + 0.03);
  EXPECT_EQ(held.scale, 0.01);
}

}  // namespace
}  // namespace blazed::planner
