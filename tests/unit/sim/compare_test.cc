// The comparison with other methods, and the lines by which one of another program takes part.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "client/sim/arena.h"
#include "client/sim/ask.h"
#include "client/sim/baselines.h"
#include "client/sim/contest.h"
#include "client/sim/scenarios.h"

namespace blazed::sim {
namespace {

// No noise at all: a method that measures finds what it tries.
ArenaSettings Silent() {
  ArenaSettings settings;
  settings.noise = {};
  settings.noise.sd = settings.noise.drift_amplitude = settings.noise.walk = 0;
  settings.noise.outlier_share = settings.noise.regime_rate = 0;
  return settings;
}

TEST(Arena, ChargesABuildOnceAndEndsWithTheBudget) {
  const CostTable table({std::log(0.5)});
  ArenaSettings settings = Silent();
  settings.build_steps = 100;
  settings.budget = 120;
  settings.horizon = 1000;
  Arena arena(&table, settings, 1);
  const auto times = arena.Run({{0, 1}}, 10);
  ASSERT_EQ(times.size(), 10u);
  EXPECT_NEAR(times[0], 0.5, 1e-9);
  EXPECT_EQ(arena.Run({{0, 1}}, 20).size(), 20u);
  EXPECT_TRUE(arena.Run({}, 6).empty());
  const Score score = arena.Finish({{0, 1}});
  EXPECT_NEAR(score.wall, 100 + 15 + 970 * 0.5, 1e-9);
  EXPECT_NEAR(score.regret, 100, 1e-9);
  EXPECT_EQ(score.builds, 1);
  EXPECT_TRUE(score.claims);
  EXPECT_FALSE(score.false_claim);
  EXPECT_FALSE(score.worse);
}

TEST(Arena, NamesAClaimThatIsFalse) {
  const CostTable table({0.1, 0.0});
  Arena arena(&table, Silent(), 1);
  EXPECT_TRUE(arena.Finish({{0, 1}}).worse);
  EXPECT_TRUE(arena.Finish({{0, 1}}).false_claim);
  EXPECT_TRUE(arena.Finish({{1, 1}}).false_claim);  // equal is not faster
  EXPECT_FALSE(arena.Finish({{1, 1}}).worse);
  EXPECT_FALSE(arena.Finish({}).claims);
}

TEST(Baselines, FindTheBestPlanWhereNothingIsNoisy) {
  const CostTable table({-0.05, 0.04, -0.03});
  for (const Baseline& baseline : Baselines()) {
    Arena arena(&table, Silent(), 1);
    const planner::Plan plan = baseline.choose(arena, 7);
    // Everything on is all that the fixed settings have besides the default.
    const planner::Plan best = baseline.name == std::string("both fixed")
                                   ? planner::Plan{{0, 1}, {1, 1}, {2, 1}}
                                   : planner::Plan{{0, 1}, {2, 1}};
    EXPECT_EQ(plan, best) << baseline.name;
  }
}

TEST(Baselines, StayWithinTheBudget) {
  const CostTable table({-0.05, 0.04, -0.03});
  for (const Baseline& baseline : Baselines()) {
    ArenaSettings settings = Silent();
    settings.build_steps = 100;
    settings.budget = 250;
    Arena arena(&table, settings, 1);
    const Score score = arena.Finish(baseline.choose(arena, 7));
    EXPECT_LE(score.builds, 2) << baseline.name;
    EXPECT_LE(score.trial_steps, 250) << baseline.name;
  }
}

TEST(Compare, NeverMakesOursSlowerOrWrong) {
  Request request;
  request.runs = 2;
  request.boundaries = {12};
  request.build_s = 0;
  int ours = 0;
  for (const Row& row : FindScenario("compare")->run(request)) {
    if (std::get<std::string>(*FieldOf(row, "method")) != "ours") continue;
    ++ours;
    EXPECT_EQ(NumberOf(row, "worse"), 0);
    EXPECT_EQ(NumberOf(row, "false_claims"), 0);
    // Without a claim there would be none that could be false.
    EXPECT_GT(NumberOf(row, "false_claims_n"), 0);
    EXPECT_GT(NumberOf(row, "capture"), 0);
  }
  EXPECT_EQ(ours, 1);
}

// Noise that was drawn from the workload's own numbers would know something of it.
TEST(Compare, DrawsNoiseThatKnowsNothingOfTheWorkload) {
  constexpr uint64_t kSeed = 5;
  planner::Random workload(kSeed), noise(NoiseSeedOf(kSeed));
  EXPECT_NE(workload.Next(), noise.Next());
  // What `ask` gives is what a method of `compare` gets.
  const auto contest = ContestOf("5", 0, kSeed);
  Arena arena(&contest->table, contest->arena, NoiseSeedOf(kSeed));
  AskSession session;
  session.Answer("workload 5 0 5");
  double first = 0;
  std::istringstream(session.Answer("run 0,0,0,0,0 1").substr(6)) >> first;
  EXPECT_NEAR(first, arena.Run({}, 1)[0], 1e-5);
}

TEST(Ask, AnswersOneLineWithOne) {
  AskSession session;
  EXPECT_EQ(session.Answer("workload 5 10 3"), "options 2 2 2 2 2");
  const std::string times = session.Answer("run 0,1,0,0,0 3");
  EXPECT_EQ(times.rfind("times ", 0), 0u) << times;
  std::istringstream in(times.substr(6));
  int count = 0;
  for (double time; in >> time; ++count) EXPECT_GT(time, 0);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(session.Answer("done 0,0,0,0,0").rfind("score wall ", 0), 0u);
  // The budget of a job of 20,000 steps is 10,000.
  EXPECT_EQ(session.Answer("run 0,0,0,0,0 10000"), "spent");
}

TEST(Ask, SaysWhatIsWrongAndGoesOn) {
  AskSession session;
  const auto wrong = [&](const std::string& line) {
    const std::string answer = session.Answer(line);
    EXPECT_EQ(answer.rfind("error ", 0), 0u) << line << ": " << answer;
    EXPECT_EQ(answer.find('\n'), std::string::npos);
  };
  for (const char* line :
       {"", "hello", "run 0 1", "done 0", "workload", "workload none 0 1", "workload 0 0 1",
        "workload 257 0 1", "workload 5 -1 1", "workload 5 nan 1", "workload 5 0 x"}) {
    wrong(line);
  }
  EXPECT_EQ(session.Answer("workload plans_lstm 0 1"), "options 2 4");
  for (const char* line : {"run 0,0", "run 0 1", "run 0,0,0 1", "run 0,4 1", "run 0,-1 1",
                           "run 0,0 0", "run 0,0 10001", "done", "done 2,0", "workload none 0 1"}) {
    wrong(line);
  }
  EXPECT_EQ(session.Answer("run 1,3 2").rfind("times ", 0), 0u);
}

}  // namespace
}  // namespace blazed::sim
