#include "daemon/session/grant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blazed::session {
namespace {

using planner::Mode;
using testing::HasSubstr;

Hello Asking(Mode mode) {
  Hello hello;
  hello.mode = mode;
  return hello;
}

const absl::Status kOk;

TEST(Grant, GivesWhatIsAskedWhereNothingForbidsIt) {
  for (Mode mode : {Mode::kObserve, Mode::kTune, Mode::kPinned}) {
    const Granted granted = Grant(Asking(mode), Options(), kOk, kOk);
    EXPECT_EQ(granted.mode, mode);
    EXPECT_EQ(granted.reason, "");
  }
}

TEST(Grant, NeverGivesMoreThanAsked) {
  Options options;
  options.max_mode = Mode::kTune;
  EXPECT_EQ(Grant(Asking(Mode::kPinned), options, kOk, kOk).mode, Mode::kPinned);
}

TEST(Grant, PolicyLowersTheMode) {
  Options options;
  options.max_mode = Mode::kPinned;
  EXPECT_EQ(Grant(Asking(Mode::kTune), options, kOk, kOk).mode, Mode::kPinned);
  options.max_mode = Mode::kObserve;
  EXPECT_EQ(Grant(Asking(Mode::kTune), options, kOk, kOk).mode, Mode::kObserve);
  EXPECT_EQ(Grant(Asking(Mode::kPinned), options, kOk, kOk).mode, Mode::kObserve);
}

TEST(Grant, AJobOfManyRanksIsObserved) {
  Hello hello = Asking(Mode::kTune);
  hello.world_size = 8;
  const Granted granted = Grant(hello, Options(), kOk, kOk);
  EXPECT_EQ(granted.mode, Mode::kObserve);
  EXPECT_THAT(granted.reason, HasSubstr("8 ranks"));
}

TEST(Grant, AModeOfALaterVersionIsObserved) {
  Hello hello;
  hello.mode = std::nullopt;
  const Granted granted = Grant(hello, Options(), kOk, kOk);
  EXPECT_EQ(granted.mode, Mode::kObserve);
  EXPECT_FALSE(granted.reason.empty());
}

TEST(Grant, PauseQuarantineAndAnotherOwnerAreObserved) {
  Options paused;
  paused.pause = Pause::kOn;
  EXPECT_THAT(Grant(Asking(Mode::kTune), paused, kOk, kOk).reason, HasSubstr("paused"));
  EXPECT_THAT(Grant(Asking(Mode::kTune), Options(), kOk, absl::DataLossError("bad disk")).reason,
              HasSubstr("bad disk"));
  const Granted granted =
      Grant(Asking(Mode::kTune), Options(), absl::FailedPreconditionError("not ours"), kOk);
  EXPECT_EQ(granted.mode, Mode::kObserve);
  EXPECT_EQ(granted.reason, "not ours");
}

}  // namespace
}  // namespace blazed::session
