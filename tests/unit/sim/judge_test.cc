#include "client/sim/judge.h"

#include <gtest/gtest.h>

#include "client/sim/print.h"

namespace blazed::sim {
namespace {

Row RowWith(double value, double low, double high, double delta0 = 0, uint64_t n = 100) {
  Row row = {{"delta0", delta0}};
  Put(row, "rate", {value, low, high, n});
  return row;
}

Scenario WithBar(Bar bar) { return {"any", "", 1, nullptr, {}, {std::move(bar)}}; }

Standing StandingOf(const Bar& bar, const Row& row) {
  const auto findings = Judge(WithBar(bar), {row});
  EXPECT_EQ(findings.size(), 1u);
  return findings.front().standing;
}

TEST(Judge, MissesABarOnlyWhereTheWholeIntervalDoes) {
  const Bar most = {"rate", Sense::kAtMost, 0.1, {}, false};
  EXPECT_EQ(StandingOf(most, RowWith(0.05, 0.01, 0.1)), Standing::kWithin);
  EXPECT_EQ(StandingOf(most, RowWith(0.1, 0.05, 0.3)), Standing::kNotShown);
  EXPECT_EQ(StandingOf(most, RowWith(0.2, 0.1, 0.3)), Standing::kWithinError);
  EXPECT_EQ(StandingOf(most, RowWith(0.2, 0.11, 0.3)), Standing::kMissed);
  const Bar least = {"rate", Sense::kAtLeast, 0.8, {}, false};
  EXPECT_EQ(StandingOf(least, RowWith(0.9, 0.8, 0.95)), Standing::kWithin);
  EXPECT_EQ(StandingOf(least, RowWith(0.8, 0.1, 0.9)), Standing::kNotShown);
  EXPECT_EQ(StandingOf(least, RowWith(0.7, 0.1, 0.8)), Standing::kWithinError);
  EXPECT_EQ(StandingOf(least, RowWith(0.7, 0.1, 0.79)), Standing::kMissed);
}

// The error is in the limit already and does not count twice.
TEST(Judge, HoldsANominalRateWithinThreeStandardErrors) {
  const Bar nominal = {"rate", Sense::kAtMost, 0.05, {}, true};
  EXPECT_EQ(StandingOf(nominal, RowWith(0.11, 0.0, 0.2, 0, 100)), Standing::kWithin);
  EXPECT_EQ(StandingOf(nominal, RowWith(0.12, 0.0, 0.2, 0, 100)), Standing::kMissed);
  EXPECT_EQ(StandingOf(nominal, RowWith(0.11, 0.0, 0.2, 0, 10000)), Standing::kMissed);
}

TEST(Judge, TakesAFigureWithoutAnIntervalAsItStands) {
  const Bar none = {"demotions", Sense::kAtMost, 0, {}, false};
  EXPECT_EQ(StandingOf(none, {{"demotions", uint64_t{0}}}), Standing::kWithin);
  EXPECT_EQ(StandingOf(none, {{"demotions", uint64_t{1}}}), Standing::kMissed);
}

// The median of nothing, 0 of 0, and a capture of nothing: neither reached nor missed.
TEST(Judge, TakesNothingForNoFigure) {
  for (const Estimate& nothing :
       {MedianOf({}), RateOf(0, 0), RatioOf({0}, {0}, 1), RateOverRuns({0, 0}, {0, 0}, 1)}) {
    Row row;
    Put(row, "rate", nothing);
    EXPECT_EQ(StandingOf({"rate", Sense::kAtMost, 0.1, {}, false}, row), Standing::kNoData);
    EXPECT_EQ(StandingOf({"rate", Sense::kAtLeast, 0.1, {}, false}, row), Standing::kNoData);
    EXPECT_EQ(StandingOf({"rate", Sense::kAtMost, 0.1, {}, true}, row), Standing::kNoData);
    EXPECT_EQ(ToTable({row}), "rate\nno data\n");
  }
  Row row;
  Put(row, "rate", MedianOf({}));
  EXPECT_NE(ToJson("any", 1, 1, {row}).find("\"rate\":null"), std::string::npos);
}

// 0 of 40 is no proof of 1 %.
TEST(Judge, DoesNotSellFewRunsForProof) {
  const Bar bar = {"rate", Sense::kAtMost, 0.01, {}, false};
  Row few, many;
  Put(few, "rate", RateOf(0, 40));
  Put(many, "rate", RateOf(0, 400));
  EXPECT_EQ(StandingOf(bar, few), Standing::kNotShown);
  EXPECT_EQ(StandingOf(bar, many), Standing::kWithin);
}

TEST(Judge, FailsOnWhatIsMissedOrWasNotThere) {
  EXPECT_TRUE(Fails(Standing::kMissed));
  EXPECT_TRUE(Fails(Standing::kNoData));
  for (const Standing standing :
       {Standing::kWithin, Standing::kNotShown, Standing::kWithinError, Standing::kNotRun}) {
    EXPECT_FALSE(Fails(standing)) << NameOf(standing);
  }
}

TEST(Judge, HoldsABarAgainstTheRowsItNames) {
  const Bar bar = {"rate", Sense::kAtMost, 0.1, {{"delta0", 0.5}}, false};
  const auto findings =
      Judge(WithBar(bar), {RowWith(0.9, 0.8, 1, 0), RowWith(0.0, 0, 0.1, 0.5, 10)});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].standing, Standing::kWithin);
  EXPECT_EQ(findings[0].text,
            "within: any, delta0 0.5: rate 0 (0 to 0.1, n 10); bar: rate at most 0.1 where delta0 "
            "is 0.5");
  EXPECT_EQ(StandingOf(bar, RowWith(0, 0, 0.1, 0)), Standing::kNotRun);
}

TEST(Print, WritesOneObject) {
  const std::vector<Row> rows = {{{"boundaries", uint64_t{5}}, {"settled_rate", 0.25}},
                                 {{"boundaries", uint64_t{134}}, {"settled_rate", 0.0}}};
  EXPECT_EQ(ToJson("null", 4, 9, rows),
            "{\"schema\":1,\"scenario\":\"null\",\"runs\":4,\"seed\":9,\"rows\":["
            "{\"boundaries\":5,\"settled_rate\":0.25},{\"boundaries\":134,\"settled_rate\":0}]}\n");
}

TEST(Print, PutsFindingsBesideTheRows) {
  EXPECT_EQ(ToJson("any", 1, 2, {{{"n", uint64_t{1}}}}, {{Standing::kMissed, "missed: it"}}),
            "{\"schema\":1,\"scenario\":\"any\",\"runs\":1,\"seed\":2,\"rows\":[{\"n\":1}],"
            "\"bars\":[{\"standing\":\"missed\",\"finding\":\"missed: it\"}]}\n");
}

TEST(Print, AlignsATableAndJoinsAFigureWithItsInterval) {
  std::vector<Row> rows = {{{"name", std::string("a")}}, {{"name", std::string("long")}}};
  Put(rows[0], "rate", {0.25, 0.125, 0.5, 8});
  Put(rows[1], "rate", {0, 0, 0.5, 8});
  Put(rows[0], "more", {1, 1, 1, 8});
  Put(rows[1], "more", {1, 1, 1, 4});
  rows.push_back({{"other", uint64_t{1}}});
  EXPECT_EQ(ToTable(rows),
            "name  rate                      more\n"
            "a     0.25 (0.125 to 0.5, n 8)  1 (1 to 1)\n"
            "long  0 (0 to 0.5, n 8)         1 (1 to 1, n 4)\n"
            "\n"
            "other\n"
            "1\n");
}

}  // namespace
}  // namespace blazed::sim
