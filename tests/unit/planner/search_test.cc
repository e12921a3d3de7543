#include "daemon/planner/search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "client/sim/cost_table.h"
#include "daemon/planner/random.h"
#include "daemon/planner/thought.h"

namespace blazed::planner {
namespace {

constexpr double kScale = 0.015;

SearchProfile ProfileFor(size_t toggles) {
  Surroundings here;
  here.toggles = toggles;
  here.scale = kScale;
  here.step_ns = 1e7;
  here.window_ns = 1e13;
  return ChooseProfile(here, TuningConfig{});
}

Conclusion Round(Search& search, uint32_t plans, Random& random) {
  const Conclusion next = Conclude(search, {{}, plans, random.Next(), 0, {}, {}});
  search.Count(next);
  return next;
}

struct Fed {
  std::vector<Plan> contenders;  // that it wanted to race
  std::string why;               // it ended
};

// Feeds the search with pairs of its own proposals until it ends.
Fed Feed(Search& search, const sim::CostTable& table, uint64_t seed, int rounds) {
  Random random(seed);
  Fed fed;
  for (int i = 0; i < rounds; ++i) {
    const Conclusion next = Conclude(search, {{}, 4, random.Next(), 0, {}, {}});
    if (next.contender) {
      fed.contenders.push_back(*next.contender);
      search.NoteRace({}, *next.contender);
      continue;
    }
    if (next.plans.empty() && search.Exhausted({}, next.left, &fed.why)) break;
    search.Count(next);
    for (const Plan& plan : next.plans) {
      for (int pair = 0; pair < 2; ++pair) {
        search.Learn({}, plan, -table.LogCost(plan) + kScale * random.Normal(), kScale);
      }
    }
  }
  return fed;
}

TEST(Search, NamesTheGoodOptionsForARace) {
  const sim::CostTable table({0.01, -0.03, 0.01, 0.01, -0.02, 0.01});
  const Space space(table.spec(), Contract::kRounding);
  Search search(&space, ProfileFor(space.size()));
  const auto contenders = Feed(search, table, 3, 100).contenders;
  ASSERT_FALSE(contenders.empty()) << "seed 3";
  EXPECT_LT(table.LogCost(contenders.back()), -0.025) << space.Text(contenders.back());
}

TEST(Search, StopsWithoutARaceWhereEverythingIsSlower) {
  const sim::CostTable table(std::vector<double>(20, 0.01));
  const Space space(table.spec(), Contract::kRounding);
  Search search(&space, ProfileFor(space.size()));
  const Fed fed = Feed(search, table, 5, 2000);
  EXPECT_TRUE(fed.contenders.empty()) << "seed 5";
  EXPECT_FALSE(fed.why.empty());
}

TEST(Search, LearnsAPairOfNeighboursThatIsGoodOnlyTogether) {
  const sim::CostTable table(std::vector<double>(4, 0.01));
  const Space space(table.spec(), Contract::kRounding);
  Search search(&space, ProfileFor(space.size()));
  const Plan one = {{0, 1}}, other = {{1, 1}}, both = {{0, 1}, {1, 1}};
  for (int i = 0; i < 40; ++i) {
    search.Learn({}, one, -0.01, kScale);
    search.Learn({}, other, -0.01, kScale);
    search.Learn({}, both, 0.04, kScale);
  }
  EXPECT_LT(search.Predict({}, one).first, 0);
  EXPECT_GT(search.Predict({}, both).first, 0.02);
}

// It may move a step by half, so a search does not end before it was tried, in whatever space.
TEST(Search, ExpectsMoreOfTheWholeStepThanOfOneBoundary) {
  WorkloadSpec spec = sim::CostTable(std::vector<double>(35, 0)).spec();
  spec.decisions.back().graph = 0;
  const Space space(spec, Contract::kRounding);
  Surroundings here;
  here.toggles = space.size();
  Search search(&space, ChooseProfile(here, {}));
  const auto spread = [&](uint32_t decision) { return search.Predict({}, {{decision, 1}}).second; };
  EXPECT_GT(spread(34), 3 * spread(0));
  std::string why;
  for (uint32_t decision = 0; decision < 34; ++decision) {
    search.Learn({}, {{decision, 1}}, -0.1, 0.005, 100);
  }
  EXPECT_FALSE(search.Exhausted({}, Conclude(search, {}).left, &why)) << why;
  search.Learn({}, {{34, 1}}, -0.1, 0.005, 100);
  EXPECT_TRUE(search.Exhausted({}, Conclude(search, {}).left, &why));
  search.Reset();
  EXPECT_GT(spread(34), 3 * spread(0));
}

// The check of a settled plan speaks of other times than those that the search learned from.
TEST(Search, KeepsOfOtherTimesWhatADemotionLeavesPossible) {
  const sim::CostTable table(std::vector<double>(6, 0));
  const Space space(table.spec(), Contract::kRounding);
  for (const double shown : {0.045, -0.3}) {
    Surroundings here;
    here.toggles = space.size();
    Search search(&space, ChooseProfile(here, {}));
    for (int i = 0; i < 20; ++i) {
      search.Learn({}, {{0, 1}}, 0.05, 0.01);
      search.Learn({}, {{1, 1}}, 0.04, 0.01);
    }
    const double other = search.Predict({}, {{1, 1}}).first;
    ASSERT_GT(other, 0.03);
    search.Doubt({{0, 1}}, shown, 0.01, 30);
    const auto [gain, sd] = search.Predict({}, {{0, 1}});
    EXPECT_LT(gain, 0.05) << shown;
    if (shown > 0) {
      EXPECT_DOUBLE_EQ(search.Predict({}, {{1, 1}}).first, other);
    } else {
      EXPECT_LT(gain, -0.02);
      EXPECT_LT(search.Predict({}, {{1, 1}}).first, 0.01) << "of times that are over";
    }
  }
}

TEST(Search, ProposesNeitherTheChampionNorAnythingGivenUpNorBanned) {
  const sim::CostTable table(std::vector<double>(5, 0.0));
  const Space space(table.spec(), Contract::kRounding);
  Search search(&space, ProfileFor(space.size()));
  search.Ban(2);
  const Plan lost = {{0, 1}};
  search.GiveUp(lost);
  size_t named = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Conclusion next = Conclude(search, {{{1, 1}}, 4, seed, 0, {}, {}});
    ASSERT_FALSE(next.contender) << "nothing was measured";
    named += next.plans.size();
    for (const Plan& plan : next.plans) {
      EXPECT_NE(plan, (Plan{{1, 1}}));
      EXPECT_NE(plan, lost);
      for (const Choice& c : plan) EXPECT_NE(c.decision, 2u);
    }
  }
  EXPECT_GT(named, 100u);
}

TEST(Search, AsksForMoreEachTimeTheSameTwoPlansRace) {
  const sim::CostTable table({-0.03});
  const Space space(table.spec(), Contract::kRounding);
  Search search(&space, ProfileFor(1));
  for (int i = 0; i < 3; ++i) search.Learn({}, {{0, 1}}, 0.03, kScale);
  int races = 0;
  while (const auto plan = Conclude(search, {}).contender) {
    search.NoteRace({}, *plan);
    if (++races == 100) break;
  }
  EXPECT_GE(races, 1);
  EXPECT_LT(races, 10);
}

TEST(Search, ProposesNoMoreFlipsThanItsProfileAllowsAndNoneOfMoreSlowdown) {
  const sim::CostTable table(std::vector<double>(30, 0.0));
  const Space space(table.spec(), Contract::kRounding);
  SearchProfile profile = ProfileFor(30);
  profile.prior = {0.01, 0.05, 0};  // each flip costs 1 % on average
  Random random(21);
  size_t most = 0, capped = 0;
  for (const uint32_t flips : {3u, 12u}) {
    profile.flips = flips;
    Search search(&space, profile);
    for (int i = 0; i < 100; ++i) {
      for (const Plan& plan : Round(search, 4, random).plans) {
        most = std::max(most, plan.size());
        EXPECT_LE(plan.size(), flips);
        EXPECT_GE(search.Predict({}, plan).first, -profile.slowdown_cap - 1e-9);
      }
    }
    if (flips == 12) capped = most;
  }
  EXPECT_EQ(capped, 3u) << "of 1 % each, under a cap of 3 %";
  profile.slowdown_cap = 1;
  Search free(&space, profile);
  for (int i = 0; i < 100; ++i) {
    for (const Plan& plan : Round(free, 4, random).plans) most = std::max(most, plan.size());
  }
  EXPECT_EQ(most, 12u) << "without the cap the flips are the limit";
}

TEST(Search, EndsWhereItKeepsNamingThePlanInUse) {
  const sim::CostTable table(std::vector<double>(4, 0.0));
  const Space space(table.spec(), Contract::kRounding);
  SearchProfile profile = ProfileFor(4);
  profile.quiet = 5;
  profile.patience = 1'000'000;
  profile.stop_gain = 0;
  Search search(&space, profile);
  for (uint32_t d = 0; d < 4; ++d) {
    for (int i = 0; i < 60; ++i) search.Learn({}, {{d, 1}}, -0.2, kScale);
  }
  Random random(22);
  std::string why;
  EXPECT_FALSE(search.Exhausted({}, 1, &why));
  for (int i = 0; i < 4 && Round(search, 4, random).plans.empty(); ++i) {
  }
  EXPECT_TRUE(search.Exhausted({}, 1, &why));
  EXPECT_EQ(why, "the search keeps naming the plan in use");
  search.NoteAccept();
  EXPECT_FALSE(search.Exhausted({}, 1, &why)) << why;
}

TEST(Search, EndsAfterSoManyTurnsWithoutAnAcceptedPlan) {
  const sim::CostTable table(std::vector<double>(12, 0.0));
  const Space space(table.spec(), Contract::kRounding);
  SearchProfile profile = ProfileFor(12);
  profile.quiet = 1'000'000;
  profile.patience = 20;
  profile.stop_gain = 0;
  Search search(&space, profile);
  Random random(23);
  std::string why;
  int rounds = 0;
  for (; rounds < 100 && !search.Exhausted({}, 1, &why); ++rounds) Round(search, 1, random);
  EXPECT_GE(rounds, 11) << "a round tries twice at most";
  EXPECT_LE(rounds, 21);
  EXPECT_EQ(why, "no plan was accepted for 20 turns");
  search.NoteAccept();
  EXPECT_FALSE(search.Exhausted({}, 1, &why)) << why;
}

TEST(Search, KnowsThatPlansWithOneSignatureCostTheSame) {
  const sim::CostTable table(std::vector<double>(3, 0.0));
  const Space space(table.spec(), Contract::kRounding);
  Search search(&space, ProfileFor(3));
  search.LearnEqual({{0, 1}}, {});
  EXPECT_LT(search.Predict({}, {{0, 1}}).second, 1e-3);
}

TEST(Search, GoesOnFromItsSavedState) {
  const sim::CostTable table({0.01, -0.03, 0.01});
  const Space space(table.spec(), Contract::kRounding);
  Search first(&space, ProfileFor(3));
  for (int i = 0; i < 20; ++i) first.Learn({}, {{1, 1}}, 0.03, kScale);
  Search second(&space, ProfileFor(3));
  ASSERT_TRUE(second.Restore(first.Save()));
  EXPECT_NEAR(second.Predict({}, {{1, 1}}).first, first.Predict({}, {{1, 1}}).first, 1e-6);
  EXPECT_NEAR(second.Predict({}, {{1, 1}}).second, first.Predict({}, {{1, 1}}).second, 1e-6);
}

TEST(Search, HoldsWhatItLearnedWithinTheSpreadBetweenProcesses) {
  const sim::CostTable table({0.01, -0.03, 0.01});
  const Space space(table.spec(), Contract::kRounding);
  Search search(&space, ProfileFor(3));
  for (int i = 0; i < 20; ++i) search.Learn({}, {{1, 1}}, 0.03, kScale);
  const auto [gain, sd] = search.Predict({}, {{1, 1}});
  const double untried = search.Predict({}, {{2, 1}}).second;
  search.NextProcess(0.002);
  EXPECT_EQ(search.Predict({}, {{1, 1}}).first, gain);
  EXPECT_NEAR(search.Predict({}, {{1, 1}}).second, std::hypot(sd, 0.001), 1e-9);
  EXPECT_LT(search.Predict({}, {{2, 1}}).second, 1.01 * untried) << "what is not known stays so";
}

TEST(Search, RefusesASavedStateOfAnotherSpaceOrCutShort) {
  const sim::CostTable three(std::vector<double>(3, 0.0)), four(std::vector<double>(4, 0.0));
  const Space a(three.spec(), Contract::kRounding), b(four.spec(), Contract::kRounding);
  Search of_a(&a, ProfileFor(3)), of_b(&b, ProfileFor(4));
  EXPECT_FALSE(of_b.Restore(of_a.Save()));
  std::vector<uint8_t> bytes = of_a.Save();
  bytes.pop_back();
  EXPECT_FALSE(of_a.Restore(bytes));
  EXPECT_FALSE(of_a.Restore({}));
  EXPECT_TRUE(of_a.Restore(of_a.Save()));
}

TEST(Profile, LooksForLessWhereNoiseHidesMore) {
  Surroundings here;
  here.toggles = 30;
  here.step_ns = 1e7;
  here.window_ns = 100e9;
  here.scale = 0.05;
  const SearchProfile noisy = ChooseProfile(here, TuningConfig{});
  here.scale = 0.005;
  const SearchProfile quiet = ChooseProfile(here, TuningConfig{});
  EXPECT_DOUBLE_EQ(quiet.delta1, TuningConfig{}.delta1);
  EXPECT_GT(noisy.delta1, quiet.delta1);
  EXPECT_GT(noisy.stop_gain, quiet.stop_gain);
}

TEST(Profile, ReusesPlansWhereVariantsAreDear) {
  Surroundings here;
  here.toggles = 30;
  here.step_ns = 1e7;
  here.build_ns = 1e7;
  here.probe_ns = 3e7;
  EXPECT_EQ(ChooseProfile(here, TuningConfig{}).pairs_per_proposal, 2u);
  here.probe_ns = 2e8;
  EXPECT_EQ(ChooseProfile(here, TuningConfig{}).pairs_per_proposal, 4u);
  here.build_ns = 1e10;
  EXPECT_EQ(ChooseProfile(here, TuningConfig{}).max_builds, 12u);
}

TEST(Profile, HasANameByTheSizeOfTheSpaceAndTheCostOfAVariant) {
  Surroundings here;
  here.step_ns = 1e7;
  here.build_ns = 1e6;
  const auto name = [&] { return std::string(ChooseProfile(here, TuningConfig{}).name); };
  here.toggles = 5;
  EXPECT_EQ(name(), "fine");
  here.toggles = 42;
  EXPECT_EQ(name(), "standard");
  here.probe_ns = 2e8;
  EXPECT_EQ(name(), "few-plans");
  here.build_ns = 1.1e9;
  EXPECT_EQ(name(), "few-builds");
}

}  // namespace
}  // namespace blazed::planner
