// A thought on its own: a function of a search and a question.
#include "daemon/planner/thought.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>

#include "client/sim/cost_table.h"
#include "daemon/planner/sampler.h"

namespace blazed::planner {
namespace {

constexpr double kScale = 0.015;

SearchProfile ProfileFor(size_t toggles, double build_ns = 0) {
  Surroundings here;
  here.toggles = toggles;
  here.scale = kScale;
  here.step_ns = 1e7;
  here.window_ns = 1e13;
  here.build_ns = build_ns;
  return ChooseProfile(here, TuningConfig{});
}

// So many boundaries, the first of which was measured to save time.
struct Known {
  explicit Known(size_t boundaries, double build_ns = 0)
      : table(std::vector<double>(boundaries, 0.0)),
        space(std::make_shared<const Space>(table.spec(), Contract::kRounding)),
        search(space.get(), ProfileFor(boundaries, build_ns)) {
    for (int i = 0; i < 3; ++i) search.Learn({}, {{0, 1}}, 0.01, kScale);
  }
  sim::CostTable table;
  std::shared_ptr<const Space> space;
  Search search;
};

Question ForPlans(uint32_t plans, uint64_t seed) {
  Question question;
  question.plans = plans;
  question.seed = seed;
  return question;
}

TEST(Sampler, DrawsAroundTheMeanWithTheSurrogatesCovariance) {
  const Known known(6);
  const Surrogate& surrogate = known.search.surrogate();
  const Contrast both = surrogate.Between(Toggles(6, 0), {1, 1, 0, 0, 0, 0});
  const Sampler sampler(surrogate);
  Random random(7);
  constexpr int kDraws = 20000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double off = surrogate.Dot(sampler.Draw(random), both) - surrogate.Predict(both);
    sum += off;
    squares += off * off;
  }
  const double sd = std::sqrt(surrogate.Variance(both));
  EXPECT_NEAR(sum / kDraws, 0, 4 * sd / std::sqrt(kDraws)) << "seed 7";
  EXPECT_NEAR(std::sqrt(squares / kDraws), sd, 0.03 * sd) << "seed 7";
}

TEST(Thought, ComesToTheSameWhoeverThinksIt) {
  Known known(40);
  const Thought thought{known.space, known.search, ForPlans(8, 5)};
  const Conclusion here = Conclude(known.search, thought.question);
  known.search.GiveUp(here.plans.at(0));
  known.search.Learn({}, {{1, 1}}, 0.5, 1e-4);
  EXPECT_EQ(Conclude(thought), here) << "what is learned meanwhile is no part of it";
  EXPECT_NE(Conclude(known.search, thought.question), here);
}

TEST(Thought, NamesDifferentPlansAndOthersUnderAnotherSeed) {
  const Known known(40);
  const Conclusion one = Conclude(known.search, ForPlans(8, 1));
  const std::set<Plan> different(one.plans.begin(), one.plans.end());
  EXPECT_EQ(different.size(), one.plans.size());
  EXPECT_GT(one.plans.size(), 4u);
  EXPECT_LE(one.plans.size(), 8u);
  EXPECT_GE(one.samples, one.plans.size());
  EXPECT_NE(Conclude(known.search, ForPlans(8, 2)).plans, one.plans);
}

TEST(Thought, NamesNothingWhereNoPlanIsWanted) {
  const Known known(40);
  const Conclusion none = Conclude(known.search, ForPlans(0, 1));
  EXPECT_TRUE(none.plans.empty());
  EXPECT_EQ(none.samples, 0u);
  EXPECT_EQ(none.left, Conclude(known.search, ForPlans(8, 1)).left);
  EXPECT_GT(none.left, 0);
}

TEST(Thought, AsksForARaceBeforeAnythingElse) {
  Known known(40);
  for (int i = 0; i < 10; ++i) known.search.Learn({}, {{0, 1}}, 0.04, kScale);
  const Conclusion race = Conclude(known.search, ForPlans(8, 1));
  ASSERT_TRUE(race.contender.has_value());
  EXPECT_EQ(race.contender->front(), (Choice{0, 1}));
  EXPECT_TRUE(race.plans.empty());
}

TEST(Thought, NamesOneBuildWithItsGainWhereBuildsAreDear) {
  Known known(40, 1e10);
  ASSERT_TRUE(known.search.ChoosesBuilds());
  Question question = ForPlans(1, 1);
  question.builds_left = 4;
  question.measured = {{{5, 1}}, {{0, 1}}};
  const Conclusion next = Conclude(known.search, question);
  EXPECT_EQ(next.base, (Plan{{0, 1}})) << "the best of what was measured";
  ASSERT_EQ(next.plans.size(), 1u);
  EXPECT_GT(next.plans[0].size(), 1u) << "adds to what it goes on from";
  EXPECT_EQ(next.plans[0].front(), (Choice{0, 1}));
  EXPECT_GT(next.gain, 0);
}

}  // namespace
}  // namespace blazed::planner
