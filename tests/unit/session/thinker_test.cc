// Thoughts on a thread of their own.
#include "daemon/session/thinker.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "daemon/base/task_group.h"
#include "tests/fakes/manual_loop.h"

namespace blazed::session {
namespace {

using planner::Conclusion;

// Large enough that a thought takes some time.
planner::Thought ThoughtOf(uint64_t seed) {
  planner::WorkloadSpec workload;
  for (uint32_t i = 0; i < 120; ++i) {
    planner::DecisionSpec decision;
    decision.name = "boundary";
    decision.options = {"merge", "cut"};
    workload.decisions.push_back(decision);
  }
  auto space = std::make_shared<const planner::Space>(workload, planner::Contract::kRounding);
  planner::SearchProfile profile;
  profile.prior = {0.001, 0.01, 0.005};
  planner::Search search(space.get(), profile);
  planner::Question question;
  question.plans = 4;
  question.seed = seed;
  return {space, std::move(search), question};
}

class ThinkerTest : public testing::Test {
 protected:
  void SetUp() override {
    tasks_.Start(
        "thinking",
        [this] {
          thinker_.Run();
          return absl::OkStatus();
        },
        [this] { thinker_.Stop(); });
  }
  void Think(uint64_t seed) {
    came_.reset();
    thinker_.Think(std::make_shared<const planner::Thought>(ThoughtOf(seed)),
                   [this](Conclusion conclusion) {
                     EXPECT_EQ(std::this_thread::get_id(), strand_) << "answers come on the strand";
                     came_ = std::move(conclusion);
                   });
  }

  const std::thread::id strand_ = std::this_thread::get_id();
  fakes::ManualLoop loop_;
  ThreadThinker thinker_{loop_};
  std::optional<Conclusion> came_;
  TaskGroup tasks_;  // ends before what it runs on
};

TEST_F(ThinkerTest, ComesToWhatTheThoughtComesTo) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Think(seed);
    ASSERT_TRUE(loop_.RunUntil([this] { return came_.has_value(); }));
    EXPECT_EQ(*came_, planner::Conclude(ThoughtOf(seed)));
    EXPECT_FALSE(came_->plans.empty());
  }
}

TEST_F(ThinkerTest, StopsAmidAThoughtAndItsAnswerIsHarmless) {
  Think(1);
  tasks_.StopAll();
  loop_.RunReady();  // the answer is there where the thought had begun
  Think(2);
  loop_.RunReady();
  EXPECT_FALSE(came_.has_value()) << "a stopped one thinks no more";
}

}  // namespace
}  // namespace blazed::session
