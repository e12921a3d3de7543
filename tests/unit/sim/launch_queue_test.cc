#include "client/sim/launch_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace blazed::sim {
namespace {

QueueSettings Plain() {
  QueueSettings settings;
  settings.launch_ns = 0;
  settings.refill = 0;
  return settings;
}

double LongRun(double host_ns, double device_ns) {
  LaunchQueue queue(Plain());
  for (int i = 0; i < 1000; ++i) queue.Step(host_ns, device_ns);
  queue.Drain();
  return queue.host_now() / 1000;
}

TEST(LaunchQueue, IsAsSlowAsItsSlowerSide) {
  EXPECT_NEAR(LongRun(4, 1), 4, 0.01);
  EXPECT_NEAR(LongRun(1, 4), 4, 0.01);
}

TEST(LaunchQueue, LetsTheHostRunAheadByItsBoundAndNoFurther) {
  LaunchQueue queue(Plain());
  for (int i = 0; i < 8; ++i) queue.Step(1, 100);
  EXPECT_DOUBLE_EQ(queue.host_now(), 8);
  queue.Step(1, 100);
  EXPECT_DOUBLE_EQ(queue.host_now(), 101);  // the first step has ended
}

TEST(LaunchQueue, KnowsWhatIsInFlight) {
  LaunchQueue queue(Plain());
  EXPECT_EQ(queue.InFlight(), 0u);
  for (int i = 0; i < 20; ++i) queue.Step(1, 100);
  EXPECT_EQ(queue.InFlight(), 8u);
  for (int i = 0; i < 20; ++i) queue.Step(1000, 100);
  EXPECT_EQ(queue.InFlight(), 0u);
  queue.Step(1, 100);
  queue.Drain();
  EXPECT_EQ(queue.InFlight(), 0u);
}

TEST(LaunchQueue, WaitsForEverythingAtADrainedPoint) {
  LaunchQueue queue(Plain());
  for (int i = 0; i < 3; ++i) queue.Step(1, 100);
  EXPECT_DOUBLE_EQ(queue.Drain(), 297);
  EXPECT_DOUBLE_EQ(queue.host_now(), queue.device_end());
  EXPECT_DOUBLE_EQ(queue.Drain(), 0);
}

TEST(LaunchQueue, ChargesAnIdleDeviceOnItsNextStepAlone) {
  QueueSettings settings = Plain();
  settings.refill = 0.5;
  LaunchQueue queue(settings);
  queue.Step(0, 10);
  queue.Step(0, 10);
  EXPECT_DOUBLE_EQ(queue.device_end(), 25);
  queue.Drain();
  queue.Step(0, 10);
  EXPECT_DOUBLE_EQ(queue.device_end(), 40);
}

}  // namespace
}  // namespace blazed::sim
