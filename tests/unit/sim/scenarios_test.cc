// The scenarios of blaze-sim at small counts; the full counts are in `./run bench`.
#include "client/sim/scenarios.h"

#include <gtest/gtest.h>

#include <cmath>

#include "client/sim/print.h"

namespace blazed::sim {
namespace {

std::vector<Row> RunScenario(const std::string& name, uint64_t runs, uint64_t seed = 3) {
  for (const Scenario& s : Scenarios()) {
    if (s.name == name) return s.run(runs, seed, [](double) {});
  }
  ADD_FAILURE() << "no scenario " << name;
  return {};
}

double Field(const Row& row, const std::string& name) {
  for (const auto& [field, value] : row) {
    if (field != name) continue;
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return static_cast<double>(std::get<uint64_t>(value));
  }
  ADD_FAILURE() << "no field " << name;
  return std::nan("");
}

TEST(Scenarios, HoldTheErrorRateOfEqualPlans) {
  constexpr uint64_t kRuns = 150;
  const auto rows = RunScenario("aa", kRuns);
  ASSERT_EQ(rows.size(), 12u);
  for (const Row& row : rows) {
    const double nominal = Field(row, "delta0") == 0 ? 0.05 : 0.01;
    EXPECT_LE(Field(row, "false_accept_rate"),
              nominal + 3 * std::sqrt(nominal * (1 - nominal) / kRuns));
  }
}

TEST(Scenarios, FindTrueWins) {
  const auto rows = RunScenario("power", 200);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_GE(Field(rows[1], "accepted"), 0.95);
  EXPECT_LE(Field(rows[1], "median_steps"), 80);
  EXPECT_GE(Field(rows[3], "accepted"), 0.99);
}

TEST(Scenarios, SettleNothingWhereNothingIsFaster) {
  for (const Row& row : RunScenario("null", 1)) EXPECT_EQ(Field(row, "settled_rate"), 0);
}

TEST(Scenarios, CaptureMostOfWhatIsThere) {
  for (const Row& row : RunScenario("search", 3)) {
    // Small spaces often hold no win at all, so a few of them say little.
    if (Field(row, "boundaries") >= 34) {
      EXPECT_GE(Field(row, "capture"), 0.6);
    }
    EXPECT_EQ(Field(row, "worse"), 0);
  }
}

TEST(Scenarios, KeepASettledWinAndDropOneThatTurned) {
  const auto rows = RunScenario("drift", 2);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(Field(rows[0], "false_demotions"), 0);
  EXPECT_GT(Field(rows[0], "median_delay_steps"), 0);
}

TEST(Scenarios, GiveOneResultForOneSeed) {
  const auto json = [](uint64_t seed) {
    return ToJson("carry", 3, seed, RunScenario("carry", 3, seed));
  };
  EXPECT_EQ(json(5), json(5));
  EXPECT_NE(ToJson("power", 20, 1, RunScenario("power", 20, 1)),
            ToJson("power", 20, 1, RunScenario("power", 20, 2)));
}

TEST(Print, WritesOneObjectAndAnAlignedTable) {
  const std::vector<Row> rows = {{{"boundaries", uint64_t{5}}, {"settled_rate", 0.25}},
                                 {{"boundaries", uint64_t{134}}, {"settled_rate", 0.0}}};
  EXPECT_EQ(ToJson("null", 4, 9, rows),
            "{\"schema\":1,\"scenario\":\"null\",\"runs\":4,\"seed\":9,\"rows\":["
            "{\"boundaries\":5,\"settled_rate\":0.25},{\"boundaries\":134,\"settled_rate\":0}]}\n");
  EXPECT_EQ(ToTable(rows), "boundaries  settled_rate\n5           0.25\n134         0\n");
}

}  // namespace
}  // namespace blazed::sim
