#include "daemon/session/device_turns.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace blazed::session {
namespace {

using std::chrono::seconds;
using Answer = DeviceTurns::Answer;

class DeviceTurnsTest : public testing::Test {
 protected:
  std::vector<storage::TuningId> granted_;
  DeviceTurns turns_{
      [this](const std::string&, storage::TuningId tuning) { granted_.push_back(tuning); }};

  Answer Ask(const std::string& device, storage::TuningId tuning, planner::Moment now,
             uint32_t uid = 1000) {
    return turns_.Ask(device, tuning, uid, now);
  }
};

TEST_F(DeviceTurnsTest, AFreeDeviceIsTheFirstOnes) {
  EXPECT_EQ(Ask("cpu", 1, seconds(0)), Answer::kYours);
  EXPECT_EQ(Ask("cpu", 1, seconds(1)), Answer::kYours);
  EXPECT_EQ(Ask("cpu", 2, seconds(1)), Answer::kWait);
}

TEST_F(DeviceTurnsTest, DevicesDoNotWaitForEachOther) {
  EXPECT_EQ(Ask("GPU-a", 1, seconds(0)), Answer::kYours);
  EXPECT_EQ(Ask("GPU-b", 2, seconds(0)), Answer::kYours);
}

TEST_F(DeviceTurnsTest, TheLineMovesInOrder) {
  Ask("cpu", 1, seconds(0));
  Ask("cpu", 2, seconds(0));
  Ask("cpu", 3, seconds(0));
  Ask("cpu", 2, seconds(0));  // joins once
  turns_.GiveUp("cpu", 1, seconds(1));
  turns_.GiveUp("cpu", 2, seconds(2));
  turns_.GiveUp("cpu", 3, seconds(3));
  EXPECT_EQ(granted_, (std::vector<storage::TuningId>{2, 3}));
  EXPECT_EQ(Ask("cpu", 4, seconds(4)), Answer::kYours);
}

TEST_F(DeviceTurnsTest, WhoeverLeavesTheLineGetsNoTurn) {
  Ask("cpu", 1, seconds(0));
  Ask("cpu", 2, seconds(0));
  turns_.GiveUp("cpu", 2, seconds(0));
  turns_.GiveUp("cpu", 1, seconds(0));
  EXPECT_TRUE(granted_.empty());
}

TEST_F(DeviceTurnsTest, ALongTurnEndsOnlyWhenSomebodyWaits) {
  Ask("cpu", 1, seconds(0));
  turns_.YieldAfter("cpu", 1, seconds(10), seconds(100));
  EXPECT_TRUE(granted_.empty());
  Ask("cpu", 2, seconds(100));
  turns_.YieldAfter("cpu", 1, seconds(10), seconds(100));
  EXPECT_EQ(granted_, (std::vector<storage::TuningId>{2}));
  Ask("cpu", 1, seconds(100));
  turns_.YieldAfter("cpu", 2, seconds(10), seconds(105));
  EXPECT_EQ(granted_.size(), 1u) << "its turn is younger than the limit";
}

TEST_F(DeviceTurnsTest, TurnsGoRoundUsersBeforeTheirTunings) {
  Ask("cpu", 1, seconds(0), 7);
  for (storage::TuningId tuning = 2; tuning <= 30; ++tuning) Ask("cpu", tuning, seconds(0), 7);
  Ask("cpu", 100, seconds(1), 8);
  Ask("cpu", 101, seconds(1), 8);
  Ask("cpu", 200, seconds(2), 9);
  for (const storage::TuningId holder : {1, 100, 200, 2, 101, 3}) {
    turns_.GiveUp("cpu", holder, seconds(10));
  }
  EXPECT_EQ(granted_, (std::vector<storage::TuningId>{100, 200, 2, 101, 3, 4}));
}

TEST_F(DeviceTurnsTest, OneThatMissesALeaseGoesToTheBack) {
  Ask("cpu", 1, seconds(0));
  Ask("cpu", 2, seconds(0));
  Ask("cpu", 3, seconds(0));
  turns_.Missed("cpu", 1, seconds(1));
  Ask("cpu", 1, seconds(1));
  turns_.GiveUp("cpu", 2, seconds(2));
  turns_.GiveUp("cpu", 3, seconds(3));
  EXPECT_EQ(granted_, (std::vector<storage::TuningId>{2, 3, 1}));
}

TEST_F(DeviceTurnsTest, OneThatMissesTwoInARowHasNoTurnUntilItIsHeard) {
  Ask("cpu", 1, seconds(0));
  turns_.Missed("cpu", 1, seconds(1));
  EXPECT_EQ(Ask("cpu", 1, seconds(1)), Answer::kYours) << "nobody else waits";
  turns_.Missed("cpu", 1, seconds(2));
  EXPECT_EQ(Ask("cpu", 1, seconds(3)), Answer::kWait) << "not even of a free device";
  EXPECT_EQ(Ask("cpu", 2, seconds(3)), Answer::kYours);
  turns_.GiveUp("cpu", 2, seconds(4));
  EXPECT_TRUE(granted_.empty());
  turns_.Heard(1, seconds(5));
  EXPECT_EQ(granted_, (std::vector<storage::TuningId>{1}));
}

TEST_F(DeviceTurnsTest, AMissBeforeAnAnswerCountsNoMore) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Ask("cpu", 1, seconds(i)), Answer::kYours);
    turns_.Missed("cpu", 1, seconds(i));
    turns_.Heard(1, seconds(i));
  }
}

// It has one device granted and asks for another one at once, where only a silent one is in line.
TEST_F(DeviceTurnsTest, WhatIsTakenWithinAGrantIsNotPassedOn) {
  std::function<void()> once_granted;
  DeviceTurns turns([&](const std::string&, storage::TuningId) { once_granted(); });
  for (const storage::TuningId tuning : {1, 2}) {
    const std::string device = tuning == 1 ? "GPU-a" : "GPU-b";
    for (int missed = 0; missed < 2; ++missed) {
      ASSERT_EQ(turns.Ask(device, tuning, 1000, seconds(0)), Answer::kYours);
      turns.Missed(device, tuning, seconds(0));
    }
    ASSERT_EQ(turns.Ask(device, tuning, 1000, seconds(0)), Answer::kWait);
  }
  Answer answer = Answer::kWait;
  once_granted = [&] { answer = turns.Ask("GPU-b", 1, 1000, seconds(1)); };
  turns.Heard(1, seconds(1));
  EXPECT_EQ(answer, Answer::kYours);
  EXPECT_EQ(turns.Ask("GPU-b", 3, 1000, seconds(2)), Answer::kWait);
}

}  // namespace
}  // namespace blazed::session
