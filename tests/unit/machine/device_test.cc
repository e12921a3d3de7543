#include "daemon/machine/device.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace blazed::machine {
namespace {

TEST(Device, TheCpuHasModelCoresAndInstructionSets) {
  const auto fields = DescribeDevice("cpu");
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_FALSE(fields.at("cpu_model").empty());
  EXPECT_GT(std::stoi(fields.at("cpu_cores")), 0);
}

TEST(Device, EveryFieldIsOnThePageOfTheReport) {
  std::ifstream file(BLAZED_SOURCE_DIR "/docs/report.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  for (const auto& [key, value] : DescribeDevice("cpu")) {
    EXPECT_NE(page.find("`machine." + key + "`"), std::string::npos) << key;
  }
}

TEST(Device, TheSameMachineDescribesItselfTheSame) {
  EXPECT_EQ(DescribeDevice("cpu"), DescribeDevice("cpu"));
}

TEST(Device, AGpuIsLeftToTheShim) { EXPECT_TRUE(DescribeDevice("GPU-1").empty()); }

}  // namespace
}  // namespace blazed::machine
