#include "client/blazectl/interval_bar.h"

#include <gtest/gtest.h>

#include <limits>

namespace blazed::blazectl {
namespace {

TEST(IntervalBar, PutsAGainRightOfTheMiddle) {
  EXPECT_EQ(IntervalBar(0.05, 0.03, 0.07, 0.10, 21), "..........|..[=o=]...");
}

TEST(IntervalBar, CoversTheMiddleWhereZeroIsInside) {
  EXPECT_EQ(IntervalBar(0, -0.02, 0.02, 0.10, 11), "....[o]....");
}

TEST(IntervalBar, MarksWhatRunsOffTheScale) {
  EXPECT_EQ(IntervalBar(0.05, -0.30, 0.30, 0.10, 11), "<=======o=>");
  const double open = std::numeric_limits<double>::infinity();
  EXPECT_EQ(IntervalBar(0.05, -open, open, 0.10, 11), "<=======o=>");
  EXPECT_EQ(IntervalBar(-1.7, -6.4, 0, 0.10, 11), "<====].....") << "the estimate is off as well";
}

TEST(IntervalBar, DrawsNothingForNumbersThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(IntervalBar(nan, 0, 0, 0.1, 5), "..|..");
  EXPECT_EQ(IntervalBar(0, 0.1, -0.1, 0.1, 5), "..|..");
  EXPECT_EQ(IntervalBar(0, 0, 0, 0, 5), "..|..");
}

}  // namespace
}  // namespace blazed::blazectl
