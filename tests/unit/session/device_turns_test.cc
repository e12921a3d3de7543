#include "daemon/session/device_turns.h"

#include <gtest/gtest.h>

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
};

TEST_F(DeviceTurnsTest, AFreeDeviceIsTheFirstOnes) {
  EXPECT_EQ(turns_.Ask("cpu", 1, seconds(0)), Answer::kYours);
  EXPECT_EQ(turns_.Ask("cpu", 1, seconds(1)), Answer::kYours);
  EXPECT_EQ(turns_.Ask("cpu", 2, seconds(1)), Answer::kWait);
}

TEST_F(DeviceTurnsTest, DevicesDoNotWaitForEachOther) {
  EXPECT_EQ(turns_.Ask("GPU-a", 1, seconds(0)), Answer::kYours);
  EXPECT_EQ(turns_.Ask("GPU-b", 2, seconds(0)), Answer::kYours);
}

TEST_F(DeviceTurnsTest, TheLineMovesInOrder) {
  turns_.Ask("cpu", 1, seconds(0));
  turns_.Ask("cpu", 2, seconds(0));
  turns_.Ask("cpu", 3, seconds(0));
  turns_.Ask("cpu", 2, seconds(0));  // joins once
  turns_.GiveUp("cpu", 1, seconds(1));
  turns_.GiveUp("cpu", 2, seconds(2));
  turns_.GiveUp("cpu", 3, seconds(3));
  EXPECT_EQ(granted_, (std::vector<storage::TuningId>{2, 3}));
  EXPECT_EQ(turns_.Ask("cpu", 4, seconds(4)), Answer::kYours);
}

TEST_F(DeviceTurnsTest, WhoeverLeavesTheLineGetsNoTurn) {
  turns_.Ask("cpu", 1, seconds(0));
  turns_.Ask("cpu", 2, seconds(0));
  turns_.GiveUp("cpu", 2, seconds(0));
  turns_.GiveUp("cpu", 1, seconds(0));
  EXPECT_TRUE(granted_.empty());
}

TEST_F(DeviceTurnsTest, ALongTurnEndsOnlyWhenSomebodyWaits) {
  turns_.Ask("cpu", 1, seconds(0));
  turns_.YieldAfter("cpu", 1, seconds(10), seconds(100));
  EXPECT_TRUE(turns_.Holds("cpu", 1));
  turns_.Ask("cpu", 2, seconds(100));
  turns_.YieldAfter("cpu", 1, seconds(10), seconds(100));
  EXPECT_TRUE(turns_.Holds("cpu", 2));
  turns_.Ask("cpu", 1, seconds(100));
  turns_.YieldAfter("cpu", 2, seconds(10), seconds(105));
  EXPECT_TRUE(turns_.Holds("cpu", 2)) << "its turn is younger than the limit";
}

}  // namespace
}  // namespace blazed::session
