#include "daemon/planner/step_watch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

// Windows until an alarm, or `limit`.
int UntilAlarm(StepWatch& watch, Random& random, double mean, int limit) {
  for (int i = 0; i < limit; ++i) {
    if (watch.Add(mean + 0.004 * random.Normal())) return i;
  }
  return limit;
}

TEST(StepWatch, RaisesAnAlarmSoonAfterAShiftEitherWay) {
  for (double shift : {-0.03, 0.03}) {
    Random random(3);
    StepWatch watch;
    for (size_t i = 0; i < StepWatch::kReferenceWindows; ++i) watch.Add(0.004 * random.Normal());
    EXPECT_LE(UntilAlarm(watch, random, shift, 100), 12) << shift << ", seed 3";
  }
}

TEST(StepWatch, TakesItsReferenceAnewAfterAnAlarm) {
  Random random(4);
  StepWatch watch;
  for (size_t i = 0; i < StepWatch::kReferenceWindows; ++i) watch.Add(0.004 * random.Normal());
  ASSERT_LT(UntilAlarm(watch, random, 0.05, 100), 100);
  for (size_t i = 0; i < StepWatch::kReferenceWindows; ++i) {
    EXPECT_FALSE(watch.Add(0.05 + 0.004 * random.Normal()));
  }
  EXPECT_GT(UntilAlarm(watch, random, 0.05, 20), 5) << "seed 4";
}

TEST(StepWatch, IgnoresTimesThatAreNone) {
  StepWatch watch;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(watch.Add(std::nan("")));
    EXPECT_FALSE(watch.Add(-INFINITY));
  }
}

}  // namespace
}  // namespace blazed::planner
