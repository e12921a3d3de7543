#include "daemon/planner/step_watch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/planner/random.h"

namespace blazed::planner {
namespace {

constexpr double kSpread = 0.004;

class StepWatchTest : public testing::Test {
 protected:
  bool Window(double mean) { return watch_.Add(mean + kSpread * random_.Normal()); }
  int Alarms(double mean, int windows) {
    int alarms = 0;
    for (int i = 0; i < windows; ++i) alarms += Window(mean) ? 1 : 0;
    return alarms;
  }
  // Windows until an alarm, or `limit`.
  int UntilAlarm(double mean, int limit) {
    for (int i = 0; i < limit; ++i) {
      if (Window(mean)) return i;
    }
    return limit;
  }

  Random random_{3};
  StepWatch watch_;
};

TEST_F(StepWatchTest, IsSilentUntilItKnowsTheSpread) {
  EXPECT_EQ(Alarms(0, JumpRule::kFirstWindows), 0);
}

TEST_F(StepWatchTest, CallsALargeShiftWithItsFirstWindow) {
  int at_once = 0;
  for (int i = 0; i < 100; ++i) {
    watch_ = StepWatch();
    Alarms(0, 24);
    at_once += Window(i % 2 == 0 ? 6 * kSpread : -6 * kSpread) ? 1 : 0;
  }
  EXPECT_GE(at_once, 95) << "seed 3";
}

TEST_F(StepWatchTest, CollectsASmallShiftOverWindows) {
  for (double shift : {-2.5 * kSpread, 2.5 * kSpread}) {
    watch_ = StepWatch();
    Alarms(0, 24);
    EXPECT_LE(UntilAlarm(shift, 100), 8) << shift << ", seed 3";
  }
}

TEST_F(StepWatchTest, TakesTheNewLevelForGrantedAndSeesTheWayBackAtOnce) {
  int seen = 0;
  for (int i = 0; i < 100; ++i) {
    watch_ = StepWatch();
    Alarms(0, 24);
    ASSERT_LT(UntilAlarm(0.05, 20), 3) << "seed 3";
    seen += Window(0.05) ? 0 : 1;
    seen += Window(0) ? 1 : 0;
  }
  EXPECT_GE(seen, 190) << "seed 3";
}

TEST_F(StepWatchTest, SeldomCallsWhereNothingMoves) {
  EXPECT_LE(Alarms(0, 20'000), 800) << "seed 3";  // one in 25 windows, 6,400 steps
}

TEST_F(StepWatchTest, IgnoresTimesThatAreNone) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(watch_.Add(std::nan("")));
    EXPECT_FALSE(watch_.Add(-INFINITY));
  }
}

}  // namespace
}  // namespace blazed::planner
