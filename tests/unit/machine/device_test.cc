#include "daemon/machine/device.h"

#include <gtest/gtest.h>

namespace blazed::machine {
namespace {

TEST(Device, TheCpuHasModelCoresAndInstructionSets) {
  const auto fields = DescribeDevice("cpu");
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_FALSE(fields.at("cpu_model").empty());
  EXPECT_GT(std::stoi(fields.at("cpu_cores")), 0);
}

TEST(Device, TheSameMachineDescribesItselfTheSame) {
  EXPECT_EQ(DescribeDevice("cpu"), DescribeDevice("cpu"));
}

TEST(Device, AGpuIsLeftToTheShim) { EXPECT_TRUE(DescribeDevice("GPU-1").empty()); }

}  // namespace
}  // namespace blazed::machine
