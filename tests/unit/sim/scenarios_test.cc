// The scenarios of blaze-sim at small counts; the full counts are in `./run bench`.
#include "client/sim/scenarios.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "client/sim/judge.h"
#include "client/sim/print.h"
#include "client/sim/whole_tunings.h"

namespace blazed::sim {
namespace {

std::vector<Row> RunScenario(const std::string& name, Request request) {
  const Scenario* scenario = FindScenario(name);
  EXPECT_NE(scenario, nullptr) << name;
  return scenario == nullptr ? std::vector<Row>{} : scenario->run(request);
}

std::vector<Row> RunScenario(const std::string& name, uint64_t runs, uint64_t seed = 3) {
  Request request;
  request.runs = runs;
  request.seed = seed;
  request.threads = 2;
  return RunScenario(name, request);
}

double Field(const Row& row, const std::string& name) {
  EXPECT_NE(FieldOf(row, name), nullptr) << "no field " << name;
  return NumberOf(row, name);
}

TEST(Scenarios, HoldTheErrorRateOfEqualPlans) {
  constexpr uint64_t kRuns = 150;
  const auto rows = RunScenario("aa", kRuns);
  ASSERT_EQ(rows.size(), 12u);
  for (const Row& row : rows) {
    const double nominal = Field(row, "delta0") == 0 ? 0.05 : 0.01;
    EXPECT_LE(Field(row, "false_accept_rate"),
              nominal + 3 * std::sqrt(nominal * (1 - nominal) / kRuns));
    const double own = nominal / 2;
    EXPECT_LE(Field(row, "false_accept_rate_own"), own + 3 * std::sqrt(own * (1 - own) / kRuns));
  }
}

TEST(Scenarios, FindTrueWins) {
  const auto rows = RunScenario("power", 200);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_GE(Field(rows[1], "accepted"), 0.95);
  EXPECT_LE(Field(rows[1], "median_steps"), 80);
  EXPECT_GE(Field(rows[3], "accepted"), 0.99);
}

TEST(Scenarios, SettleAndAcceptNothingWhereNothingIsFaster) {
  for (const Row& row : RunScenario("null", 1)) {
    EXPECT_EQ(Field(row, "settled_rate"), 0);
    EXPECT_EQ(Field(row, "settlements"), 0);
    EXPECT_EQ(Field(row, "search_accepts"), 0);
  }
}

// The bars are of the error share in the literature; the planner's own first race has half of it.
TEST(Scenarios, ShowRacesAtThePlannersOwnErrorShareToo) {
  const auto wins = RunScenario("power", 100);
  EXPECT_GT(Field(wins[1], "median_steps_own"), Field(wins[1], "median_steps"));
}

// A machine that grows faster: where the order of a pair never changes the challenger always has
// the later step, and only the coin keeps it from winning.
TEST(Scenarios, NeedTheirCoins) {
  TableSettings flat;
  flat.boundaries = 4;
  flat.flat = true;
  const CostTable table(flat, 3);
  HostSettings settings;
  settings.noise.drift_amplitude = 1;
  settings.noise.drift_period = 1000;
  uint64_t accepts = 0, with_coins = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    settings.fixed_order = false;
    with_coins += RunSearch(table, settings, seed).accepts;
    settings.fixed_order = true;
    accepts += RunSearch(table, settings, seed).accepts;
  }
  EXPECT_EQ(with_coins, 0u);
  EXPECT_GT(accepts, 0u);
}

TEST(Scenarios, CaptureMostOfWhatIsThere) {
  std::vector<Row> rows = RunScenario("search", 3);
  EXPECT_EQ(Field(rows.back(), "forecast_hits_in_all_n"), 12) << "three of each of four sizes";
  rows.pop_back();
  for (const Row& row : rows) {
    // Small spaces often hold no win at all, so a few of them say little.
    if (Field(row, "boundaries") >= 34) {
      EXPECT_GE(Field(row, "capture"), 0.6);
    }
    EXPECT_EQ(Field(row, "worse"), 0);
  }
}

TEST(Scenarios, SearchTheSizesThatWereAskedFor) {
  Request request;
  request.boundaries = {3, 7};
  const auto rows = RunScenario("search", request);
  ASSERT_EQ(rows.size(), 3u) << "one for each size, and one of all";
  EXPECT_EQ(Field(rows[0], "boundaries"), 3);
  EXPECT_EQ(Field(rows[1], "boundaries"), 7);
}

TEST(Scenarios, KeepASettledWinAndDropOneThatTurned) {
  const auto rows = RunScenario("drift", 2);
  ASSERT_EQ(rows.size(), 2u);
  for (const Row& row : rows) {
    EXPECT_EQ(Field(row, "false_demotions"), 0);
    EXPECT_EQ(Field(row, "found"), 1);
    EXPECT_GT(Field(row, "median_delay_steps"), 0);
  }
}

TEST(Scenarios, FindTrueEffectsOfQueuedHostsByUnits) {
  for (const Row& row : RunScenario("queue", 3)) {
    // A unit reads what a plan truly saves; where it saves nothing, nothing.
    EXPECT_LE(Field(row, "unit_2_8_error_low"), 0.1);
    EXPECT_NEAR(Field(row, "unit_2_8_effect"), Field(row, "true_effect"), 0.04);
    // And so do those that the planner orders by itself.
    EXPECT_GE(Field(row, "warm_steps"), 2);
    EXPECT_GE(Field(row, "timed_steps"), 8);
    if (Field(row, "true_effect") > 0) {
      EXPECT_LE(Field(row, "error_low"), 0.1);
    } else {
      // A race that drops a plan ends where the plan looks worst.
      EXPECT_NEAR(Field(row, "estimated_effect"), 0, 0.005);
    }
  }
}

// The negative control: without drained points both arms share one launch queue.
TEST(Scenarios, SingleStepsHideWhatAHostSaves) {
  const Row graph = RunScenario("queue", 3).front();
  EXPECT_GT(Field(graph, "true_effect"), 0.25);
  EXPECT_LT(Field(graph, "single_step_effect"), 0.05);
}

TEST(Scenarios, SettleOneAnswerForSeveralJobs) {
  int tunings = 0;
  for (const Row& row : RunScenario("jobs", 2)) {
    if (FieldOf(row, "settled_rate") == nullptr) continue;
    ++tunings;
    if (Field(row, "win") == 0.02) {
      EXPECT_EQ(Field(row, "settled_rate"), 1);
    }
    if (Field(row, "win") == 0 && Field(row, "job_sd") == 0) {
      EXPECT_EQ(Field(row, "settled_rate"), 0);
    }
    EXPECT_GE(Field(row, "all_steps"), Field(row, "wall_steps"));
  }
  EXPECT_EQ(tunings, 16);
}

TEST(Scenarios, ShareOneRaceAmongJobs) {
  std::map<uint64_t, double> steps;
  for (const Row& row : RunScenario("jobs", 12)) {
    const Value* jobs = FieldOf(row, "jobs");
    if (FieldOf(row, "race_steps") == nullptr || Field(row, "win") != 0.01) continue;
    steps[std::get<uint64_t>(*jobs)] = Field(row, "race_steps");
  }
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_LT(steps[2], steps[1]);
  EXPECT_LT(steps[4], steps[2]);
  EXPECT_LT(steps[8], 0.4 * steps[1]);
}

TEST(Scenarios, GoOnAfterARestartOfTheDaemon) {
  const auto rows = RunScenario("restart", 2);
  ASSERT_EQ(rows.size(), 5u);
  for (const Row& row : rows) {
    EXPECT_GE(Field(row, "capture"), 0.5);
    EXPECT_EQ(Field(row, "worse"), 0);
    EXPECT_EQ(Field(row, "false_settle_rate"), 0);
    EXPECT_LE(Field(row, "happened"), Field(row, "restarts"));
    EXPECT_EQ(Field(row, "happened") > 0, Field(row, "restarts") > 0);
  }
}

TEST(Scenarios, RestartSearchesOfAllSizesThatWereAskedFor) {
  Request request;
  request.boundaries = {3, 7};
  const auto rows = RunScenario("restart", request);
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(Field(rows[0], "boundaries"), 3);
  EXPECT_EQ(Field(rows[9], "boundaries"), 7);
}

TEST(Scenarios, SpendFewDearBuilds) {
  Request request;
  request.runs = 2;
  request.boundaries = {12};
  const auto rows = RunScenario("builds", request);
  ASSERT_EQ(rows.size(), 2u);
  for (const Row& row : rows) {
    EXPECT_EQ(Field(row, "worse"), 0);
    EXPECT_LE(Field(row, "builds_to_half"), Field(row, "builds"));
  }
  // Twelve in a process and the rebuild before a settlement.
  EXPECT_LE(Field(rows[0], "builds"), 13);
  // The same plans are there to find where builds cost next to nothing.
  request.build_s = 0.05;
  EXPECT_GT(Field(RunScenario("builds", request)[0], "builds"), 13);
}

// The clipped test judges the typical step: a tail does not keep it from settling.
TEST(Scenarios, SettleAPlanWithARareTail) {
  const auto rows = RunScenario("tails", 3);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(Field(rows[0], "settled_rate"), 1);
  EXPECT_LT(Field(rows[0], "mean_change"), 0);
  EXPECT_GT(Field(rows[4], "mean_change"), 0.08);
}

// A win of one process alone is true there and is not handed to another one.
TEST(Scenarios, HandOnNoWinThatIsOneProcesssOwn) {
  const auto rows = RunScenario("evaporate", 12);
  ASSERT_EQ(rows.size(), 6u);
  const Row& process = rows[5];
  EXPECT_EQ(Field(process, "session_sd"), 0.006);
  EXPECT_GT(Field(process, "in_job_rate"), 0.5) << "nothing was there to be handed on";
  EXPECT_GT(Field(process, "true_there"), 0.9);
  EXPECT_LT(Field(process, "false_settle_rate"), Field(process, "in_job_rate"));
  EXPECT_EQ(Field(rows[4], "session_sd"), 0.003);
  EXPECT_LE(Field(rows[4], "false_settle_rate_low"), 0.01);
}

TEST(Scenarios, FindMostWinsThatFadeAfterASwitch) {
  const auto rows = RunScenario("carry", 10);
  ASSERT_EQ(rows.size(), 6u);
  for (const Row& row : rows) {
    const bool fades = Field(row, "fades_over") > 0;
    EXPECT_LE(Field(row, "false_settle_rate"), fades ? 0.4 : 0.1) << Field(row, "carry");
  }
}

TEST(Scenarios, GiveOneResultForOneSeedWhateverTheThreads) {
  const auto json = [](const std::string& name, uint64_t seed, unsigned threads) {
    Request request;
    request.runs = 3;
    request.seed = seed;
    request.threads = threads;
    request.boundaries = {12};
    return ToJson(name, 3, seed, RunScenario(name, request));
  };
  EXPECT_EQ(json("search", 5, 1), json("search", 5, 3));
  EXPECT_NE(json("search", 5, 1), json("search", 6, 1));
}

// A bar that names a row which the scenario does not make would never be judged.
TEST(Scenarios, HaveARowForEachOfTheirBars) {
  for (const Scenario& scenario : Scenarios()) {
    Request request;
    request.threads = 2;
    if (scenario.name == std::string("compare")) request.boundaries = {5};
    for (const Finding& finding : Judge(scenario, scenario.run(request))) {
      EXPECT_NE(finding.standing, Standing::kNotRun) << finding.text;
    }
  }
}

// Fewer runs than these could not show a bar of 1 %, whatever they found.
TEST(Scenarios, HaveRunsEnoughToShowTheirBars) {
  for (const Scenario& scenario : Scenarios()) {
    for (const Bar& bar : scenario.bars) {
      if (bar.sense != Sense::kAtMost || bar.nominal || bar.limit <= 0 || bar.limit >= 1) continue;
      EXPECT_LE(RateOf(0, scenario.runs).high, bar.limit) << scenario.name << " " << bar.field;
    }
  }
}

TEST(Scenarios, SayWhatTheirFiguresMean) {
  for (const Scenario& scenario : Scenarios()) {
    Request request;
    request.boundaries = {5};
    const auto rows = scenario.run(request);
    ASSERT_FALSE(rows.empty()) << scenario.name;
    for (const Row& row : rows) {
      for (const auto& [field, value] : row) {
        // Figures are explained; settings of drawn spaces explain themselves.
        if (FieldOf(row, field + "_low") == nullptr) continue;
        const auto& known = scenario.fields;
        EXPECT_TRUE(
            std::any_of(known.begin(), known.end(), [&](const auto& f) { return f.name == field; }))
            << scenario.name << " " << field;
      }
    }
    for (const Bar& bar : scenario.bars) {
      EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                              [&](const Row& row) { return FieldOf(row, bar.field) != nullptr; }))
          << scenario.name << " " << bar.field;
    }
  }
}

}  // namespace
}  // namespace blazed::sim
