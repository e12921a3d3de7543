// Jobs whose searches are thought about elsewhere, and what may happen to them meanwhile.
#include <gtest/gtest.h>

#include "tests/unit/session/session_table_fixture.h"

namespace blazed::session {
namespace {

constexpr int kManyDecisions = 40;

class ThoughtsTest : public SessionTableTest {
 protected:
  // A job that has answered all that it was asked, up to a thought.
  Client UpToAThought(const std::string& process) {
    Client client = Described(Me(process), 1, kManyDecisions);
    Answer(client, planner::BuildStatus::kOk);
    EXPECT_TRUE(thinker_.holds());
    return client;
  }
  static size_t Builds(const Client& client) { return client.link->Count<planner::BuildVariant>(); }
};

TEST_F(ThoughtsTest, AJobTrainsOnUntilItsThoughtIsThere) {
  Client client = UpToAThought("boot/1/1");
  const size_t before = Builds(client), leases = client.link->Count<planner::RunPairs>();
  loop_.Advance(absl::Seconds(30));
  EXPECT_EQ(Builds(client), before);
  EXPECT_EQ(client.link->Count<planner::RunPairs>(), leases);
  ASSERT_TRUE(thinker_.End());
  EXPECT_GT(Builds(client), before);
  EXPECT_EQ(Events("thought_done"), 1u);
  EXPECT_EQ(Events("think"), 0u) << "what it comes to is kept, not that it was asked for";
}

TEST_F(ThoughtsTest, AThoughtForASessionThatEndedIsHarmless) {
  Client client = UpToAThought("boot/1/1");
  EXPECT_TRUE(Say(client, Bye{}).ok());
  ASSERT_TRUE(thinker_.End());
  EXPECT_EQ(Events("thought_done"), 0u) << "its tuning is closed";
  Client next = UpToAThought("boot/2/2");
  const size_t before = Builds(next);
  ASSERT_TRUE(thinker_.End());
  EXPECT_GT(Builds(next), before);
}

// The tuning is open again, under its own number, when the thought of the session before comes.
TEST_F(ThoughtsTest, AThoughtOfAnEarlierSessionIsNoAnswerToTheNext) {
  Client client = UpToAThought("boot/1/1");
  EXPECT_TRUE(Say(client, Bye{}).ok());
  Client next = Described(Me("boot/2/2"), 1, kManyDecisions);
  Answer(next, planner::BuildStatus::kOk);
  const size_t before = Builds(next);
  ASSERT_TRUE(thinker_.End());
  EXPECT_EQ(Builds(next), before);
  ASSERT_TRUE(thinker_.End()) << "its own thought came next";
  EXPECT_GT(Builds(next), before);
  EXPECT_FALSE(thinker_.overlapped);
}

TEST_F(ThoughtsTest, ADrainWaitsForNoThoughtAndAsksForNoOther) {
  Client client = UpToAThought("boot/1/1");
  const size_t before = Builds(client);
  bool drained = false;
  table_->Drain(absl::Hours(1), [&drained] { drained = true; });
  EXPECT_TRUE(drained);
  ASSERT_TRUE(thinker_.End());
  EXPECT_EQ(Builds(client), before);
  EXPECT_FALSE(thinker_.holds());
}

TEST_F(ThoughtsTest, AThoughtMayOutliveEverythingThatItWasFor) {
  UpToAThought("boot/1/1");
  table_->EndAll(absl::UnavailableError("the daemon is stopping"));
  table_.reset();
  EXPECT_TRUE(thinker_.End());
}

}  // namespace
}  // namespace blazed::session
