#include "daemon/planner/forecast.h"

#include <gtest/gtest.h>

#include "client/sim/host.h"

namespace blazed::planner {
namespace {

// Share of ten drawn workloads whose window came out within a factor of two of what was forecast.
int WithinTwo(uint32_t boundaries, double build_steps, uint64_t first_seed) {
  int within = 0;
  for (uint64_t i = 0; i < 10; ++i) {
    sim::TableSettings settings;
    settings.boundaries = boundaries;
    settings.choices = boundaries < 34 ? 0 : 4;
    const sim::CostTable table(settings, first_seed + i);
    sim::HostSettings costs;
    costs.build_steps = build_steps;
    sim::Host host(&table, costs, {}, {}, first_seed + 50 + i);
    const SessionId s = host.Attach("job");
    if (!host.RunUntilEnd(s, 50000)) continue;
    const double window = static_cast<double>(host.outcome(s)->cost.window.count());
    const double forecast = static_cast<double>(host.forecast()->window.count());
    within += forecast < 2 * window && window < 2 * forecast ? 1 : 0;
  }
  return within;
}

TEST(Forecast, IsWithinAFactorOfTwoOfSmallSpacesToo) {
  int within = 0;
  for (uint64_t lot = 0; lot < 3; ++lot) {
    within += WithinTwo(5, 0.3, 7500 + 100 * lot) + WithinTwo(12, 0.3, 8000 + 100 * lot);
  }
  // Eight of ten less two standard errors of so few; `blaze-sim search` has the full count.
  EXPECT_GE(within, 42) << "of 60, seeds from 7500 and 8000";
}

TEST(Forecast, GoesByWhatLikeWorkloadsTookAndByNoOthers) {
  Surroundings here;
  here.toggles = 20;
  here.step_ns = 1e7;
  here.build_ns = 1e7;
  const SearchProfile profile = ChooseProfile(here, TuningConfig{});
  const ForecastRecord alone = MakeForecast(here, profile, 32);
  const auto steps = static_cast<double>(alone.window.count()) / here.step_ns;
  const EarlierSearch like{20, 4 * uint64_t{alone.builds}, 4 * steps};
  const EarlierSearch other{200, 4000, 1e6}, broken{20, 0, 0};
  EXPECT_EQ(MakeForecast(here, profile, 32, {other, broken}), alone);
  const ForecastRecord one = MakeForecast(here, profile, 32, {like});
  const ForecastRecord many = MakeForecast(here, profile, 32, std::vector(16, like));
  EXPECT_GT(one.window, alone.window);
  EXPECT_GT(many.window, 2 * one.window);
  EXPECT_LT(static_cast<double>(many.window.count()) / here.step_ns, 4.5 * steps);
  EXPECT_EQ(many.based_on, "32 pairs, 16 like workloads and 20 options (standard)");
}

TEST(Forecast, IsWithinAFactorOfTwoInEightOfTen) {
  const int within = WithinTwo(34, 0.3, 7000) + WithinTwo(60, 0.3, 7100) + WithinTwo(34, 5, 7200);
  EXPECT_GE(within, 24) << "of 30, seeds from 7000, 7100 and 7200";
}

// One search without winners, so that every slower step is one slower than the default. Single
// steps are held up, but never so long that they are cut short.
struct Regret {
  double forecast = 0, counted = 0, true_cost = 0;  // steps
};
Regret RegretOf(uint32_t boundaries, double sd, uint64_t seed) {
  sim::TableSettings settings;
  settings.boundaries = boundaries;
  settings.choices = 4;
  settings.winners = false;
  const sim::CostTable table(settings, seed);
  sim::HostSettings costs;
  costs.noise.sd = sd;
  costs.noise.outlier_high = 4;
  sim::Host host(&table, costs, {}, {}, seed + 50);
  const SessionId s = host.Attach("job");
  EXPECT_TRUE(host.RunUntilEnd(s, 100000)) << seed;
  const auto steps = [&costs](Nanos ns) { return static_cast<double>(ns.count()) / costs.step_ns; };
  return {steps(host.forecast()->regret), steps(host.outcome(s)->cost.regret), host.lost_steps()};
}

TEST(Forecast, TellsTheRegretOfQuietAndOfLoudMachinesWithinTwice) {
  int within = 0;
  for (uint64_t seed = 7300; seed < 7310; ++seed) {
    for (const double sd : {0.015, 0.045}) {
      const Regret regret = RegretOf(seed % 2 == 0 ? 34 : 134, sd, seed);
      within += regret.counted < 2 * regret.forecast && regret.counted > regret.forecast / 2;
    }
  }
  EXPECT_GE(within, 19) << "of 20, seeds from 7300";
}

TEST(Regret, IsThatOfThePlansAndNotOfStepsThatTheMachineHeldUp) {
  for (uint64_t seed = 7300; seed < 7310; ++seed) {
    const Regret regret = RegretOf(34, 0.015, seed);
    EXPECT_LT(regret.counted, 1.4 * regret.true_cost) << "seed " << seed;
    EXPECT_GT(regret.counted, regret.true_cost / 1.4) << "seed " << seed;
  }
}

TEST(Forecast, CountsEveryStepOfAUnit) {
  Surroundings here;
  here.toggles = 20;
  here.step_ns = 1e7;
  SearchProfile profile;
  const ForecastRecord single = MakeForecast(here, profile, 32);
  here.unit_steps = 10;
  const ForecastRecord queued = MakeForecast(here, profile, 32);
  const auto times = [](Nanos many, Nanos few) {
    return static_cast<double>(many.count()) / static_cast<double>(few.count());
  };
  EXPECT_NEAR(times(queued.window, single.window), 10, 1e-6);
  EXPECT_NEAR(times(queued.regret, single.regret), 10, 1e-6);
  EXPECT_EQ(queued.builds, single.builds);
}

// So many fewer pairs fit into the window, so less can be resolved.
TEST(Profile, ResolvesLessWhereUnitsAreLong) {
  Surroundings here;
  here.toggles = 20;
  here.step_ns = 1e8;
  here.window_ns = 600e9;
  const double single = ChooseProfile(here, {}).delta1;
  here.unit_steps = 10;
  EXPECT_GT(ChooseProfile(here, {}).delta1, single);
}

TEST(Forecast, GrowsWithSpaceNoiseAndTheCostOfVariants) {
  Surroundings here;
  here.toggles = 20;
  here.step_ns = 1e7;
  here.build_ns = 1e7;
  here.probe_ns = 3e7;
  const TuningConfig config;
  const auto window = [&] { return MakeForecast(here, ChooseProfile(here, config), 32).window; };
  const Nanos base = window();
  here.toggles = 60;
  EXPECT_GT(window(), base);
  here.toggles = 20;
  here.scale = 0.05;
  EXPECT_GT(window(), base);
  here.scale = 0.015;
  here.build_ns = 1e8;
  EXPECT_GT(window(), base);
}

TEST(Forecast, SaysWhatTheNoiseLetsItResolve) {
  Surroundings here;
  here.toggles = 20;
  here.step_ns = 1e7;
  here.window_ns = 60e9;
  const TuningConfig config;
  const double quiet = MakeForecast(here, ChooseProfile(here, config), 32).resolvable;
  here.scale = 0.06;
  const ForecastRecord noisy = MakeForecast(here, ChooseProfile(here, config), 32);
  EXPECT_GT(noisy.resolvable, quiet);
  EXPECT_LE(noisy.window, std::chrono::seconds(60));
  EXPECT_EQ(noisy.based_on, "this job's first 32 pairs and a space of 20 options (standard)");
  here.toggles = 1;
  EXPECT_EQ(MakeForecast(here, ChooseProfile(here, config), 1).based_on,
            "this job's first 1 pair and a space of 1 option (fine)");
}

TEST(Forecast, IsCutToWhatTheJobsOwnLimitsLeave) {
  Surroundings here;
  here.toggles = 60;
  here.step_ns = 1e7;
  here.build_ns = 1e7;
  const TuningConfig config;
  const auto make = [&] { return MakeForecast(here, ChooseProfile(here, config), 32); };
  const ForecastRecord whole = make();
  here.job_ns = static_cast<double>(whole.window.count()) * 2;
  here.job_steps = 1e9;
  EXPECT_EQ(make(), whole) << "limits beyond the search change nothing";
  here.job_ns = static_cast<double>(whole.window.count()) / 4;
  const ForecastRecord cut = make();
  EXPECT_NEAR(static_cast<double>(cut.window.count()), here.job_ns, 1e6);
  EXPECT_NEAR(cut.builds, whole.builds / 4.0, 1);
  EXPECT_LT(cut.regret, whole.regret / 3);
  EXPECT_EQ(cut.based_on, whole.based_on + ", cut to the job's own limit");
  here.job_ns = -1;
  here.job_steps = 10;
  EXPECT_LT(make().window, whole.window / 10);
}

TEST(Forecast, OfASearchTellsTheJobsLimitBeforeItIsReached) {
  sim::TableSettings settings;
  settings.boundaries = 134;
  const sim::CostTable table(settings, 7400);
  sim::HostSettings limited;
  limited.tune_until_steps = 600;
  sim::Host host(&table, limited, {}, {}, 7450);
  host.RunUntilEnd(host.Attach("job"), 50000);
  sim::Host free(&table, {}, {}, {}, 7450);
  free.RunUntilEnd(free.Attach("job"), 50000);
  EXPECT_LT(host.forecast()->window, free.forecast()->window / 4);
  EXPECT_NE(host.forecast()->based_on.find("cut to the job's own limit"), std::string::npos);
}

TEST(Forecast, IsNothingForNothingToChoose) {
  Surroundings here;
  here.step_ns = 1e7;
  const ForecastRecord record = MakeForecast(here, ChooseProfile(here, TuningConfig{}), 0);
  EXPECT_EQ(record.window, Nanos(0));
  EXPECT_EQ(record.builds, 0u);
}

}  // namespace
}  // namespace blazed::planner
