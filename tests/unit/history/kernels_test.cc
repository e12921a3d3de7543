#include "daemon/history/kernels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace blazed::history {
namespace {

using ::testing::ElementsAre;

storage::KernelUse Use(const std::string& name, std::optional<uint64_t> time_ns) {
  storage::KernelUse use;
  use.name = name;
  use.time_ns = time_ns;
  return use;
}

std::vector<std::string> NamesOf(const storage::PlanKernels& kernels) {
  std::vector<std::string> names;
  for (const KernelChange& change : ChangesOf(kernels)) {
    names.push_back(change.before != nullptr ? change.before->name : change.after->name);
  }
  return names;
}

TEST(KernelChanges, PutTheLargestChangeFirstAndWhatHasNoTimeLast) {
  storage::PlanKernels kernels;
  kernels.before.kernels = {Use("same", 900), Use("shorter", 500), Use("gone", 300),
                            Use("untimed", std::nullopt), Use("half timed", 10)};
  kernels.after.kernels = {Use("same", 900), Use("shorter", 100), Use("came", 600),
                           Use("untimed", std::nullopt), Use("half timed", std::nullopt)};
  EXPECT_THAT(NamesOf(kernels),
              ElementsAre("came", "shorter", "gone", "same", "half timed", "untimed"));
}

TEST(KernelChanges, SayWhichSideRunsAKernel) {
  storage::PlanKernels kernels;
  kernels.before.kernels = {Use("gone", 1)};
  kernels.after.kernels = {Use("came", 2)};
  const auto changes = ChangesOf(kernels);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].before, nullptr);
  EXPECT_EQ(changes[0].after, &kernels.after.kernels[0]);
  EXPECT_EQ(changes[1].before, &kernels.before.kernels[0]);
  EXPECT_EQ(changes[1].after, nullptr);
}

TEST(BusySentence, IsOfTheProfiledStepWhereThatOfTheRaceIsTooShort) {
  storage::PlanKernels kernels;
  kernels.before.totals = {2'000, 1'500, 3, {}};
  kernels.after.totals = {1'000, 900, 2, {}};
  EXPECT_EQ(BusySentence(kernels, RacedSteps{1'400, 1'000}),
            "in a step of the default plan kernels run for 1.5 µs of 2 µs (75.0 %) under a "
            "profiler, 3 kernels; in one of this plan kernels run for 900 ns of 1 µs (90.0 %), 2 "
            "kernels");
}

TEST(BusySentence, IsSilentAboutWhatNobodyKnows) {
  storage::PlanKernels kernels;
  EXPECT_EQ(BusySentence(kernels, std::nullopt), "");
  kernels.before.totals.kernel_launches = 3;
  EXPECT_EQ(BusySentence(kernels, std::nullopt), "") << "one side compares with nothing";
  kernels.after.totals.busy_ns = 7;
  EXPECT_EQ(BusySentence(kernels, std::nullopt),
            "in a step of the default plan 3 kernels; in one of this plan kernels run for 7 ns");
}

}  // namespace
}  // namespace blazed::history
