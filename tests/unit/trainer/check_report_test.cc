#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/trainer/report/job_report.h"
#include "tests/unit/trainer/sample_report.h"

namespace blazed::trainer {
namespace {

using testing::HasSubstr;

std::string Problem(const Json& report) { return std::string(CheckReport(report).message()); }

TEST(CheckReport, AcceptsSettledNoWinnerAndUndecided) {
  Json undecided = SampleNoWinner();
  undecided["outcome"] = "undecided";
  undecided["settlement"] = nullptr;
  undecided["forecast"] = nullptr;
  undecided["gain"] = nullptr;
  EXPECT_EQ(Problem(SampleReport({SampleJob(), SampleNoWinner(), undecided})), "");
}

TEST(CheckReport, NamesTheFieldThatIsMissingOrOfAnotherType) {
  for (const char* key :
       {"role", "outcome", "settlement", "plan", "default_step_ns", "settled_step_ns", "gain",
        "equivalence", "boundaries", "search_pairs", "replication_pairs", "window_s", "regret_s",
        "build_s", "probe_s", "drain_s", "forecast", "break_even_steps", "plans"}) {
    Json job = SampleJob();
    job.erase(key);
    EXPECT_EQ(Problem(SampleReport({job})), std::string("jobs[0] lacks ") + key);
    job[key] = true;
    EXPECT_THAT(Problem(SampleReport({job})), HasSubstr(key));
  }
  for (const char* key : {"plan", "signature", "verdict", "reason", "pairs"}) {
    Json job = SampleJob();
    job["plans"][1].erase(key);
    EXPECT_EQ(Problem(SampleReport({job})), std::string("jobs[0].plans[1] lacks ") + key);
  }
  for (const char* key : {"schema", "device", "workload", "regime", "contract", "jobs"}) {
    Json report = SampleReport({SampleJob()});
    report.erase(key);
    EXPECT_THAT(Problem(report), HasSubstr(key));
  }
}

TEST(CheckReport, RefusesAnOutcomeOutsideTheClosedList) {
  Json job = SampleJob();
  job["outcome"] = "great";
  EXPECT_THAT(Problem(SampleReport({job})), HasSubstr("unknown outcome great"));
}

}  // namespace
}  // namespace blazed::trainer
