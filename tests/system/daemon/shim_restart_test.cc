// libblazed and the real daemon: the host trains through the daemon's end and is attached to the
// next one.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/contract/shim/test_host.h"
#include "tests/fakes/private_daemon.h"

namespace blazed::contract {
namespace {

class ShimRestart : public testing::Test {
 protected:
  void StartDaemon() {
    daemon_.emplace(folder_.path());
    ASSERT_TRUE(daemon_->WaitReady()) << daemon_->Log();
  }

  Session Attach() {
    blz_options options = Session::DefaultOptions();
    options.socket = daemon_->socket().c_str();
    options.mode = BLZ_MODE_TUNE;
    Session session(options, &host_);
    host_.Describe(session);
    return session;
  }

  // Trains until the session is attached to a daemon of a later epoch, and some steps more.
  void TrainUntilAttachedAfter(Session& session, uint64_t epoch) {
    ASSERT_TRUE(host_.StepUntil(session, [&] {
      const auto status = session.Status();
      return status.state == BLZ_STATE_ATTACHED && status.daemon_epoch > epoch;
    })) << daemon_->Log();
    const uint64_t steps = session.Status().steps;
    for (int i = 0; i < 1000; ++i) host_.Step(session);
    EXPECT_EQ(session.Status().steps, steps + 1000);
  }

  TestHost host_;
  fakes::TemporaryFolder folder_;
  std::optional<fakes::PrivateDaemon> daemon_;
};

TEST_F(ShimRestart, AKilledDaemonsNextOneGetsTheSession) {
  ASSERT_NO_FATAL_FAILURE(StartDaemon());
  Session session = Attach();
  uint64_t epoch = 0;
  for (int kill = 0; kill < 3; ++kill) {
    ASSERT_NO_FATAL_FAILURE(TrainUntilAttachedAfter(session, epoch));
    epoch = session.Status().daemon_epoch;
    daemon_->Kill();
    ASSERT_TRUE(
        host_.StepUntil(session, [&] { return session.Status().state == BLZ_STATE_RECONNECTING; }));
    for (int i = 0; i < 1000; ++i) host_.Step(session);
    ASSERT_NO_FATAL_FAILURE(StartDaemon());
  }
  TrainUntilAttachedAfter(session, epoch);
  EXPECT_EQ(session.Status().reconnects, 3u);
}

TEST_F(ShimRestart, AStoppedDaemonsNextOneGetsTheSession) {
  ASSERT_NO_FATAL_FAILURE(StartDaemon());
  Session session = Attach();
  ASSERT_NO_FATAL_FAILURE(TrainUntilAttachedAfter(session, 0));
  const uint64_t epoch = session.Status().daemon_epoch;
  EXPECT_EQ(daemon_->Stop(), 0) << daemon_->Log();
  ASSERT_NO_FATAL_FAILURE(StartDaemon());
  TrainUntilAttachedAfter(session, epoch);
}

}  // namespace
}  // namespace blazed::contract
