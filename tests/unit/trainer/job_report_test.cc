#include "client/trainer/report/job_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trainer/sample_report.h"
#include "tests/unit/trainer/temp_folder.h"

namespace blazed::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(JobReport, ReadsEveryField) {
  const JobReport job = ReadJob(SampleJob());
  EXPECT_EQ(job.outcome, "settled");
  EXPECT_THAT(job.plan, ElementsAre("attention=streamed", "bwd multiply|row_sum=cut"));
  EXPECT_EQ(job.gain->high, 0.067);
  EXPECT_EQ(job.forecast->builds, 12);
  EXPECT_EQ(*job.break_even_steps, 6132.4);
  EXPECT_EQ(job.plans.size(), 4u);
  EXPECT_EQ(job.plans[0].plan, "ln|gemm=cut");
  EXPECT_EQ(job.plans[2].pairs, 512);
  EXPECT_EQ(job.steps, 2911);
}

TEST(JobReport, AForeignOrDamagedElementReadsAsFarAsItGoes) {
  for (
      const char* text :
      {"null", "[]", "3", "{}", R"({"plan": 7, "gain": [], "plans": {"a": 1}, "steps": "x"})",
       R"({"search_pairs": 1e300, "plans": [null, 4, {"plan": [{"decision": 3, "option": 1}]}]})"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(ReadJob(Json::parse(text)).outcome, "");
  }
}

TEST(JobReport, PlansOfNumbersAndOfNamesBothRead) {
  EXPECT_EQ(PlanLine(Json::array()), "default");
  EXPECT_EQ(PlanLine(Json::parse(
                R"([{"decision": 3, "option": 1}, {"decision": "a", "option": "cut"}])")),
            "3=1, a=cut");
}

TEST(JobReport, LoadingSaysWhatIsWrongWithTheFile) {
  const TempFolder folder;
  EXPECT_EQ(LoadReport(folder.At("absent")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(LoadReport(folder.Write("bad", "{")).status().message()),
              HasSubstr("is not JSON"));
  const auto good = LoadReport(folder.Write("good", SampleReport({SampleJob()}).dump()));
  EXPECT_TRUE(good.ok()) << good.status();
}

}  // namespace
}  // namespace blazed::trainer
