// Recorded steps and plan tables, and races on them.
#include "client/sim/recorded.h"

#include <gtest/gtest.h>

#include <cmath>

#include "client/sim/json.h"
#include "client/sim/scenarios.h"

namespace blazed::sim {
namespace {

TEST(Json, ReadsWhatRecordsHold) {
  const auto json =
      ParseJson(R"( {"a": [1, -2.5e1, [true, null]], "b\\": {"c": "x\"y"}, "d": []} )");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->At("a").Items()[1].Number(), -25);
  EXPECT_EQ(json->At("b\\").At("c").Text(), "x\"y");
  EXPECT_TRUE(json->At("d").Items().empty());
  EXPECT_EQ(json->At("none").At("further").Number(), 0);
}

TEST(Json, RefusesWhatIsNone) {
  for (const char* text :
       {"", "{", "[1,]", "[1 2]", "{\"a\" 1}", "\"open", "\"\\n\"", "1 2", "nul"}) {
    EXPECT_FALSE(ParseJson(text)) << text;
  }
  EXPECT_TRUE(ParseJson(std::string(32, '[') + std::string(32, ']')));
  EXPECT_FALSE(ParseJson(std::string(40, '[') + std::string(40, ']')));
}

TEST(Recorded, StepsLeaveOutWhatPaysForADrainedQueue) {
  const auto all = ReadRecordedSteps();
  ASSERT_EQ(all.size(), 3u);
  for (const RecordedSteps& steps : all) {
    EXPECT_GT(steps.groups.size(), 100u) << steps.name;
    for (const auto& group : steps.groups) {
      ASSERT_TRUE(group.size() == 19 || group.size() == 9) << steps.name;
      for (double ns : group) EXPECT_GT(ns, 1e6);
    }
  }
}

TEST(Recorded, PlanTablesAreSpacesOfLaunchAndPlan) {
  const auto all = ReadRecordedPlans();
  ASSERT_EQ(all.size(), 4u);
  for (const RecordedPlans& plans : all) {
    ASSERT_EQ(plans.table.spec().decisions.size(), 2u);
    EXPECT_EQ(plans.table.LogCost({}), 0);
    // One graph for the whole step is faster everywhere; on the small models by far.
    EXPECT_LT(plans.table.LogCost({{0, 1}}), -0.05) << plans.name;
    EXPECT_LE(plans.table.OracleLogCost(1), plans.table.LogCost({{0, 1}}));
    EXPECT_NE(plans.table.Signature({}, 0), plans.table.Signature({{0, 1}}, 0));
    EXPECT_GT(plans.build_ns, 1e9);
  }
  EXPECT_NEAR(1 - std::exp(all[1].table.LogCost({{0, 1}})), 0.62, 0.01);
}

TEST(Replay, HoldsTheErrorRateAndFindsAWinInRecordedSteps) {
  Request request;
  request.runs = 30;
  request.seed = 3;
  request.threads = 2;
  int races = 0;
  for (const Row& row : FindScenario("replay")->run(request)) {
    if (FieldOf(row, "win") == nullptr) continue;
    ++races;
    const bool win = NumberOf(row, "win") > 0;
    if (!win) {
      EXPECT_LE(NumberOf(row, "accepted"), 0.17);
    } else if (std::get<std::string>(*FieldOf(row, "data")) == "mlp1025_quiet") {
      EXPECT_GE(NumberOf(row, "accepted"), 0.9);
      EXPECT_LE(NumberOf(row, "median_steps"), 70);
    }
  }
  EXPECT_EQ(races, 9);
}

}  // namespace
}  // namespace blazed::sim
