#include "client/trainer/report/text_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "client/trainer/format.h"
#include "tests/unit/trainer/sample_report.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TextReport, ShowsTheWholeStoryOfASettledJob) {
  EXPECT_EQ(RenderReport(SampleReport({SampleJob()}), 90),
            R"(first job: attention, training, cpu, contract rounding
======================================================
  outcome     settled (in job): 2 decisions differ from the default
  plan        attention=streamed
              bwd multiply|row_sum=cut
  numbers     identical
  trained     2,911 steps in 31 s, loss 4.560 to 2.410
  default     8.412 ms a step
  champion    7.921 ms a step, saves 5.8 %, between 4.9 % and 6.7 %

  default   |
  champion  |                                            [--------*-------]
            +-----------------+------------------+-----------------+----------------
            0 %               2 %                4 %               6 %

                    forecast      happened
  window            32 s          28 s          within 2 x
  builds            12            14            within 2 x
  regret            0.3 s         0.9 s         3.1 x more
  resolvable win    1.1 %
  based on    this job's first 32 pairs

  spent       1,212 search pairs, 96 replication pairs, 5 races, 14 builds, 42 probes
              builds 1.2 s, probes 0.9 s, drains 0 ms, regret 0.9 s, in a window of 28 s
  pairs       32 for the noise, 928 of plans before a race, 240 in search races, 95 in
              replication, 13 run behind a verdict
  break-even  6,133 steps, about 49 s until the search has paid for itself (N* = excess /
              step time saved)

  4 candidates: 1 champion, 1 lost, 1 duplicate, 1 rejected different
  verdict              pairs  plan                           reason
  champion               512  attention=streamed, bwd        beat the default
                              multiply|row_sum=cut
  lost                    64  ln|gemm=cut                    slower by 2.1 %
  duplicate                0  gelu=inside                    runs the same as default
  rejected different       0  gemm=split_k                   differs by more than
                                                             re-ordered sums explain
)");
}

TEST(TextReport, ShowsWhatExploringTookOfItsBudget) {
  Json job = SampleJob();
  EXPECT_THAT(RenderReport(SampleReport({job}), 90), Not(HasSubstr("that exploring may cost")));
  job["budget"] = {{"spent_s", 3.02}, {"allowed_s", 101.3}};
  EXPECT_THAT(RenderReport(SampleReport({job}), 90),
              HasSubstr("\n  budget      3.0 s of 101 s that exploring may cost\n"));
}

TEST(TextReport, CountsChecksApartFromTheRacesOfTheSearch) {
  Json job = SampleJob();
  job["races_by_kind"] = {{"search", 4}, {"replication", 1}, {"dwell", 1}, {"drift", 2}};
  EXPECT_THAT(RenderReport(SampleReport({job}), 150),
              HasSubstr("5 races, 1 check by long dwells, 2 drift checks, 14 builds"));
}

TEST(TextReport, OneIsNoPlural) {
  Json job = SampleJob();
  for (const char* count : {"search_pairs", "replication_pairs", "races", "builds", "probes"}) {
    job[count] = 1;
  }
  job["plan"] = {"attention=streamed"};
  job["break_even_steps"] = 0.4;
  job["run"]["steps"] = 1;
  const std::string text = RenderReport(SampleReport({job}), 120);
  EXPECT_THAT(text, HasSubstr("1 search pair, 1 replication pair, 1 race, 1 build, 1 probe\n"));
  EXPECT_THAT(text, HasSubstr("1 decision differs from the default"));
  EXPECT_THAT(text, HasSubstr("trained     1 step in"));
  EXPECT_THAT(text, HasSubstr("break-even  1 step, about"));
  EXPECT_THAT(RenderComparison(ReadJob(job), ReadJob(job), 80), HasSubstr("1 decision changed"));
}

TEST(TextReport, NoWinnerIsAFullAnswerWithItsLosers) {
  const std::string text = RenderReport(SampleReport({SampleNoWinner()}), 100);
  EXPECT_THAT(text, HasSubstr("no winner: the search ended and the default plan stays"));
  EXPECT_THAT(text, HasSubstr("slower by 2.1 %"));
  EXPECT_THAT(text, HasSubstr("8.412 ms a step"));
  EXPECT_THAT(text, Not(HasSubstr("champion")));
  EXPECT_THAT(text, Not(HasSubstr("break-even")));
}

TEST(TextReport, UndecidedSaysWhatTheNextJobDoes) {
  Json job = SampleNoWinner();
  job["outcome"] = "undecided";
  job["reason"] = "400 steps were left of 2,100 needed";
  const std::string text = RenderReport(SampleReport({job}), 100);
  EXPECT_THAT(text, HasSubstr("the next job goes on from here"));
  EXPECT_THAT(text, HasSubstr("400 steps were left of 2,100 needed"));
}

TEST(TextReport, AJobThatWasOffSaysWhyAndHowFastItWas) {
  const Json job = Json::parse(R"({"role": "first", "outcome": "off", "plan": [], "plans": [],
    "run": {"steps": 30, "wall_s": 0.25, "median_step_ns": 8000000, "shim_state": "off",
            "shim_reason": "no daemon at the socket", "stopped": "steps"}})");
  const std::string text = RenderReport(SampleReport({job}), 100);
  EXPECT_THAT(text, HasSubstr("no daemon at the socket"));
  EXPECT_THAT(text, HasSubstr("8.000 ms (median)"));
  EXPECT_THAT(text, Not(HasSubstr("spent")));
}

TEST(TextReport, FitsEveryTerminalFromSixtyColumnsOn) {
  Json job = SampleJob();
  for (int i = 0; i < 120; ++i) {
    job["plans"].push_back({{"plan", {"a rather long decision name|with operations=cut"}},
                            {"signature", "ee"},
                            {"verdict", i % 2 == 0 ? "duplicate" : "lost"},
                            {"reason", "runs the same as the plan with another long name"},
                            {"pairs", i}});
  }
  for (int columns = 60; columns <= 200; columns += 35) {
    for (const absl::string_view line :
         absl::StrSplit(RenderReport(SampleReport({job}), columns), '\n')) {
      EXPECT_LE(TextColumns(line), columns) << line;
    }
  }
}

TEST(TextReport, AServedJobCountsWhatAnEarlierOneTried) {
  Json job = SampleJob();
  job["served"] = true;
  const std::string text = RenderReport(SampleReport({job}), 100);
  EXPECT_THAT(text, HasSubstr("4 candidates: 1 champion"));
  EXPECT_THAT(text, HasSubstr("an earlier job named them"));
  EXPECT_THAT(text, Not(HasSubstr("slower by 2.1 %")));
  EXPECT_THAT(text, HasSubstr("served: another job paid for the search; nothing to pay back"));
  EXPECT_THAT(text, Not(HasSubstr("6,133 steps")));
}

TEST(TextReport, ComparesTheJobThatSearchedWithTheOneThatWasServed) {
  Json served = SampleJob();
  served["role"] = "second";
  served["settlement"] = "replicated";
  served["search_pairs"] = 0;
  const std::string text = RenderComparison(ReadJob(SampleJob()), ReadJob(served), 80);
  EXPECT_THAT(text, HasSubstr("settled (in job)"));
  EXPECT_THAT(text, HasSubstr("settled (replicated)"));
  EXPECT_THAT(text, HasSubstr("the same"));
  EXPECT_THAT(text, testing::ContainsRegex("search pairs +1,212 +0"));
  EXPECT_THAT(text, testing::ContainsRegex("last steps \\(median\\) +7.933 ms +7.933 ms"));
}

}  // namespace
}  // namespace blazed::trainer
