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
    settings.choices = 4;
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

TEST(Forecast, IsWithinAFactorOfTwoInEightOfTen) {
  const int within = WithinTwo(34, 0.3, 7000) + WithinTwo(60, 0.3, 7100) + WithinTwo(34, 5, 7200);
  EXPECT_GE(within, 24) << "of 30, seeds from 7000, 7100 and 7200";
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
  EXPECT_EQ(noisy.based_on, "this job's first 32 pairs and a space of 20 options");
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
