#include "daemon/machine/neighbours.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace blazed::machine {
namespace {

constexpr char kStat[] =
    "cpu  1696588 298625 228525 190399 1931 11 2358 1344 5 6\n"
    "cpu0 854658 152894 112055 89379 544 0 44 661 0 0\n";
constexpr char kProcess[] =
    "4711 (blaze-train) R 1 4711 4711 0 -1 4194304 9001 0 3 0 1234 56 7 8 20 0 3 0 99 1000 200";

TEST(Neighbours, BusyIsAllButIdlingAndWaitingForADisk) {
  EXPECT_EQ(BusyTicks(kStat), 1696588u + 298625 + 228525 + 11 + 2358 + 1344);
}

TEST(Neighbours, AProcessHasTheTimeOfItsThreadsAndNotOfItsChildren) {
  EXPECT_EQ(ProcessTicks(kProcess), 1234u + 56);
}

TEST(Neighbours, AProgramMayBeNamedAnything) {
  EXPECT_EQ(ProcessTicks("1 (a) R 9 (b) S 1 4711 4711 0 -1 4194304 9001 0 3 0 70 5 7 8"), 75u);
  EXPECT_EQ(ProcessTicks("1 () S 1 4711 4711 0 -1 4194304 9001 0 3 0 70 5"), 75u);
}

TEST(Neighbours, WhatIsNoSuchFileSaysNothing) {
  for (const char* text : {"", "cpu", "cpu ", "cpu  1 2 3", "intr 1 2 3 4 5 6 7 8 9", "cpu  a b"}) {
    EXPECT_EQ(BusyTicks(text), std::nullopt) << text;
  }
  for (const char* text : {"", "1", "1 (a", "1 (a) ", "1 (a) R", "1 (a) R 1 2 3 4 5 6 7 8 9 10 11",
                           "1 (a) R 1 2 3 4 5 6 7 8 9 10 x y"}) {
    EXPECT_EQ(ProcessTicks(text), std::nullopt) << text;
  }
}

TEST(Neighbours, OthersCountBeyondAQuarterOfACore) {
  const CpuUse before{1000, 500};
  EXPECT_FALSE(HadNeighbour(before, {1100, 600}, 1, 100)) << "the process alone";
  EXPECT_FALSE(HadNeighbour(before, {1125, 600}, 1, 100));
  EXPECT_TRUE(HadNeighbour(before, {1126, 600}, 1, 100));
  EXPECT_FALSE(HadNeighbour(before, {1126, 600}, 2, 100)) << "the same in twice the time";
}

TEST(Neighbours, AShortLeaseNeedsThreeTicks) {
  EXPECT_FALSE(HadNeighbour({1000, 500}, {1004, 501}, 0.01, 100));
  EXPECT_TRUE(HadNeighbour({1000, 500}, {1005, 501}, 0.01, 100));
}

TEST(Neighbours, AccountsThatGoBackwardsSayNothing) {
  EXPECT_FALSE(HadNeighbour({1000, 500}, {900, 510}, 1, 100));
  EXPECT_FALSE(HadNeighbour({1000, 500}, {2000, 400}, 1, 100)) << "another process of that number";
}

TEST(Neighbours, ThisMachineCanBeRead) {
  const auto watch = WatchDevice("cpu", getpid());
  ASSERT_TRUE(watch);
  EXPECT_EQ(watch() & ~(16u | 64u), 0u);
  EXPECT_FALSE(WatchDevice("GPU-00000000-0000-0000-0000-000000000000", getpid()));
}

}  // namespace
}  // namespace blazed::machine
