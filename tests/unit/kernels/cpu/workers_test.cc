#include "kernels/cpu/workers.h"

#include <gtest/gtest.h>

#include <array>

namespace blazed::cpu {
namespace {

TEST(Workers, RunEachPartOnceAndWaitForAll) {
  auto workers = Workers::Start(3);
  ASSERT_TRUE(workers.ok()) << workers.status();
  std::array<int, 4> ran{};  // plain numbers: all that a part wrote is there when Run returns
  std::array<int, 4> expected{};
  for (int round = 0; round < 2000; ++round) {
    const int parts = 1 + round % 4;
    (*workers)->Run(parts, [&](int part) { ++ran[static_cast<size_t>(part)]; });
    for (int part = 0; part < parts; ++part) ++expected[static_cast<size_t>(part)];
    ASSERT_EQ(ran, expected) << "round " << round;
  }
}

TEST(Workers, RunAPartOnTheSameThreadEachTime) {
  auto workers = Workers::Start(2);
  ASSERT_TRUE(workers.ok()) << workers.status();
  std::array<std::thread::id, 3> first{};
  for (int round = 0; round < 50; ++round) {
    std::array<std::thread::id, 3> ids{};
    (*workers)->Run(3,
                    [&](int part) { ids[static_cast<size_t>(part)] = std::this_thread::get_id(); });
    if (round == 0) first = ids;
    EXPECT_EQ(ids, first);
  }
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_NE(first[1], first[0]);
  EXPECT_NE(first[2], first[1]);
}

TEST(Workers, EndWithoutEverHavingRun) {
  auto workers = Workers::Start(2);
  ASSERT_TRUE(workers.ok()) << workers.status();
  EXPECT_EQ((*workers)->helpers(), 2);
}

}  // namespace
}  // namespace blazed::cpu
