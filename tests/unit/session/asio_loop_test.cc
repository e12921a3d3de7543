#include "daemon/session/asio_loop.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace blazed::session {
namespace {

class AsioLoopTest : public testing::Test {
 protected:
  AsioLoopTest() : thread_([this] { loop_.Run(); }) {}
  ~AsioLoopTest() override {
    loop_.Stop();
    thread_.join();
  }
  // Runs on the strand and waits for it.
  void OnStrand(const std::function<void()>& task) {
    absl::Notification done;
    loop_.Post([&] {
      task();
      done.Notify();
    });
    done.WaitForNotification();
  }

  AsioLoop loop_{SystemClock()};
  std::thread thread_;
};

TEST_F(AsioLoopTest, RunsTasksInTheirOrder) {
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) loop_.Post([&, i] { order.push_back(i); });
  OnStrand([] {});
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_F(AsioLoopTest, ATimerRunsOnce) {
  absl::Notification fired;
  OnStrand([&] { loop_.After(absl::ZeroDuration(), [&] { fired.Notify(); }); });
  fired.WaitForNotification();
}

TEST_F(AsioLoopTest, ACancelledTimerNeverRuns) {
  absl::Notification later;
  bool ran = false;
  OnStrand([&] {
    const Loop::Handle handle = loop_.After(absl::ZeroDuration(), [&] { ran = true; });
    loop_.After(absl::Milliseconds(1), [&] { later.Notify(); });
    loop_.Cancel(handle);
    loop_.Cancel(handle);
    loop_.Cancel(0);
  });
  later.WaitForNotification();
  EXPECT_FALSE(ran);
}

TEST_F(AsioLoopTest, TellsWhenADescriptorIsReadable) {
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  auto reading = std::make_shared<const UniqueFd>(pipe_fds[0]);
  absl::Notification readable;
  OnStrand([&] { loop_.WhenReadable(reading, [&] { readable.Notify(); }); });
  EXPECT_FALSE(readable.HasBeenNotified());
  close(pipe_fds[1]);
  readable.WaitForNotification();
}

}  // namespace
}  // namespace blazed::session
