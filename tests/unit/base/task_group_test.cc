#include "daemon/base/task_group.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/synchronization/notification.h"

namespace blazed {
namespace {

TEST(TaskGroup, TheFirstFailureStopsAll) {
  TaskGroup group;
  absl::Notification stop;
  group.Start(
      "patient",
      [&] {
        stop.WaitForNotification();
        return absl::OkStatus();
      },
      [&] { stop.Notify(); });
  group.Start(
      "broken", [] { return absl::DataLossError("it broke"); }, [] {});
  const absl::Status why = group.Wait();
  EXPECT_EQ(why.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(why.message(), "task broken: it broke");
  group.StopAll();
  EXPECT_TRUE(stop.HasBeenNotified());
}

TEST(TaskGroup, ATaskThatEndsUnaskedHasFailed) {
  TaskGroup group;
  group.Start(
      "short", [] { return absl::OkStatus(); }, [] {});
  EXPECT_EQ(group.Wait().message(), "task short ended without being asked to");
}

TEST(TaskGroup, StopsInReverseOrderOfStart) {
  TaskGroup group;
  std::vector<std::string> stopped;
  absl::Notification first, second;
  group.Start(
      "first",
      [&] {
        first.WaitForNotification();
        return absl::OkStatus();
      },
      [&] {
        stopped.push_back("first");
        first.Notify();
      });
  group.Start(
      "second",
      [&] {
        second.WaitForNotification();
        return absl::OkStatus();
      },
      [&] {
        stopped.push_back("second");
        second.Notify();
      });
  group.RequestStop(absl::OkStatus());
  EXPECT_TRUE(group.Wait().ok());
  group.StopAll();
  EXPECT_EQ(stopped, (std::vector<std::string>{"second", "first"}));
}

}  // namespace
}  // namespace blazed
