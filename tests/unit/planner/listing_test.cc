#include "daemon/planner/listing.h"

#include <gtest/gtest.h>

#include <set>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

const Listing::Skip kNothing = [](const Plan&) { return false; };

std::vector<Plan> All(Listing& listing, const Plan& champion) {
  Random random(1);
  std::vector<Plan> plans;
  for (auto lot = listing.Propose(champion, 4, kNothing, random); !lot.empty();
       lot = listing.Propose(champion, 4, kNothing, random)) {
    plans.insert(plans.end(), lot.begin(), lot.end());
  }
  return plans;
}

TEST(Listing, OfAnExhaustiveSearchIsEveryPlanOnce) {
  sim::TableSettings settings;
  settings.boundaries = 3;
  settings.choices = 2;
  const sim::CostTable table(settings, 1);
  const Space space(table.spec(), Contract::kRounding);
  ASSERT_TRUE(Listing::Fits(space, SearchKind::kExhaustive));
  Listing listing(&space, SearchKind::kExhaustive);
  const std::vector<Plan> plans = All(listing, {});
  EXPECT_EQ(plans.size(), 2u * 2 * 2 * 3 * 3 - 1);
  EXPECT_EQ(std::set<Plan>(plans.begin(), plans.end()).size(), plans.size());
  for (const Plan& plan : plans) EXPECT_TRUE(space.Valid(plan));
}

TEST(Listing, LeavesALargeSpaceToTheSurrogate) {
  const sim::CostTable twelve(std::vector<double>(12, 0)), thirteen(std::vector<double>(13, 0));
  const Space fits(twelve.spec(), Contract::kRounding),
      beyond(thirteen.spec(), Contract::kRounding);
  EXPECT_TRUE(Listing::Fits(fits, SearchKind::kExhaustive));
  EXPECT_FALSE(Listing::Fits(beyond, SearchKind::kExhaustive));
  EXPECT_TRUE(Listing::Fits(beyond, SearchKind::kGreedy));
}

TEST(Listing, OfForwardRoundsIsEachSingleChangeOfTheChampion) {
  const sim::CostTable table(std::vector<double>(3, 0));
  const Space space(table.spec(), Contract::kRounding);
  Listing listing(&space, SearchKind::kGreedy);
  EXPECT_EQ(All(listing, {}), (std::vector<Plan>{{{0, 1}}, {{1, 1}}, {{2, 1}}}));
  // With the change taken back, which is the default, left out.
  EXPECT_EQ(All(listing, {{1, 1}}), (std::vector<Plan>{{{0, 1}, {1, 1}}, {{1, 1}, {2, 1}}}));
}

TEST(Listing, RacesTheBestFirstAndEndsAfterThreeThatWinNothing) {
  const sim::CostTable table(std::vector<double>(6, 0));
  const Space space(table.spec(), Contract::kRounding);
  Listing listing(&space, SearchKind::kGreedy);
  std::string why;
  EXPECT_FALSE(listing.RaceCandidate({}, kNothing)) << "nothing was measured";
  EXPECT_FALSE(listing.Exhausted({}, kNothing, &why));
  for (const Plan& plan : All(listing, {})) {
    listing.Learn({}, plan, 0.01 * static_cast<double>(plan[0].decision) - 0.005, 10);
  }
  for (uint32_t best : {5u, 4u, 3u}) {
    EXPECT_FALSE(listing.Exhausted({}, kNothing, &why));
    EXPECT_EQ(listing.RaceCandidate({}, kNothing), (Plan{{best, 1}}));
  }
  EXPECT_FALSE(listing.RaceCandidate({}, kNothing));
  EXPECT_TRUE(listing.Exhausted({}, kNothing, &why));
  EXPECT_NE(why, "");
}

TEST(Listing, ProposesAgainWhatTheLastProcessDidNotMeasure) {
  const sim::CostTable table(std::vector<double>(4, 0));
  const Space space(table.spec(), Contract::kRounding);
  Listing listing(&space, SearchKind::kGreedy);
  const std::vector<Plan> plans = All(listing, {});
  listing.Learn({}, plans[0], 0.01, 10);
  listing.Learn({}, plans[2], 0.01, 10);
  listing.NextProcess();
  EXPECT_EQ(All(listing, {}), (std::vector<Plan>{plans[1], plans[3]}));
}

// Whole tunings: what names the plans changes, what accepts them does not.
class EverySearch : public ::testing::TestWithParam<SearchKind> {};

TEST_P(EverySearch, SettlesTheGoodOptionAndNothingWhereNothingIsFaster) {
  TuningConfig config;
  config.search = GetParam();
  const sim::CostTable good({0.02, -0.08, 0.02, 0.01, 0.02, 0.01});
  sim::Host host(&good, {}, config, {}, 1);
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 100000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kSettled);
  EXPECT_LT(good.LogCost(host.in_use(s)), -0.04);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const sim::CostTable bad(std::vector<double>(6, 0.01));
    sim::Host idle(&bad, {}, config, {}, 500 + seed);
    const SessionId job = idle.Attach("job");
    ASSERT_TRUE(idle.RunUntilEnd(job, 100000)) << seed;
    EXPECT_EQ(idle.outcome(job)->outcome, Outcome::kNoWinner) << seed;
    EXPECT_TRUE(idle.in_use(job).empty()) << seed;
  }
}

TEST_P(EverySearch, EndsWhereEveryBuildFails) {
  TuningConfig config;
  config.search = GetParam();
  const sim::CostTable table({0.02, -0.08, 0.02});
  sim::Host host(&table, {}, config, {}, 1);
  host.bend = [](EventBody& body) {
    if (auto* built = std::get_if<VariantBuilt>(&body)) built->status = BuildStatus::kFailed;
    return true;
  };
  const SessionId s = host.Attach("job");
  ASSERT_TRUE(host.RunUntilEnd(s, 100000));
  EXPECT_EQ(host.outcome(s)->outcome, Outcome::kUndecided);
}

INSTANTIATE_TEST_SUITE_P(Listing, EverySearch,
                         ::testing::Values(SearchKind::kSurrogate, SearchKind::kExhaustive,
                                           SearchKind::kGreedy, SearchKind::kRandom));

}  // namespace
}  // namespace blazed::planner
