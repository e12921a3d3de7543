// Thoughts on a thread of their own.
#include "daemon/session/thinker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/base/task_group.h"
#include "daemon/planner/tuning.h"
#include "tests/fakes/manual_loop.h"

namespace blazed::session {
namespace {

using planner::Conclusion;

// Large enough that a thought takes some time.
planner::WorkloadSpec LargeWorkload() {
  planner::WorkloadSpec workload;
  for (uint32_t i = 0; i < 120; ++i) {
    planner::DecisionSpec decision;
    decision.name = "boundary";
    decision.options = {"merge", "cut"};
    workload.decisions.push_back(decision);
  }
  return workload;
}

planner::Thought ThoughtOf(uint64_t seed) {
  auto space =
      std::make_shared<const planner::Space>(LargeWorkload(), planner::Contract::kRounding);
  planner::SearchProfile profile;
  profile.prior = {0.001, 0.01, 0.005};
  planner::Search search(space.get(), profile);
  planner::Question question;
  question.plans = 4;
  question.seed = seed;
  return {space, std::move(search), question};
}

planner::SessionReady Ready() {
  planner::SessionReady ready;
  ready.session = 1;
  ready.process = "job";
  ready.default_step_ns = 1'000'000;
  ready.default_build_ns = 5'000'000;  // too dear to build every single change first
  return ready;
}

// Answers leases evenly up to the first thought.
planner::Think UpToAThought(planner::Tuning& tuning) {
  planner::Moment now{1};
  std::vector<planner::Action> actions = tuning.Apply({now, Ready()});
  while (!actions.empty()) {
    planner::LeaseDone done;
    for (const planner::Action& action : std::exchange(actions, {})) {
      if (const auto* asked = std::get_if<planner::Think>(&action)) return *asked;
      const auto* lease = std::get_if<planner::RunPairs>(&action);
      if (lease == nullptr) continue;
      done = {1, lease->lease, {}, 1, 0, true, {}};
      done.units.resize(2 * lease->challenger_first.size(), {1'000'000, 0, 0});
    }
    now += planner::Nanos(1'000'000'000);
    actions = tuning.Apply({now, std::move(done)});
  }
  return {};
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

// For the sanitizer of threads: nothing that the two sides share changes.
TEST_F(ThinkerTest, ThinksWhileItsTuningGoesOnAndEnds) {
  for (int events = 0; events < 40; events += 10) {
    auto tuning =
        std::make_unique<planner::Tuning>(LargeWorkload(), planner::Contract::kRounding,
                                          planner::TuningConfig(), planner::TuningMemory());
    const planner::Think asked = UpToAThought(*tuning);
    ASSERT_NE(asked.request, 0u);
    const auto thought = tuning->FindThought(asked.session, asked.request);
    ASSERT_NE(thought, nullptr);
    came_.reset();
    thinker_.Think(thought, [this](Conclusion conclusion) { came_ = std::move(conclusion); });
    for (int i = 0; i < events; ++i) {
      tuning->Apply({planner::Moment(std::chrono::hours(1)), planner::Tick{}});
      tuning->SaveSurrogate();
    }
    tuning->Apply({planner::Moment(std::chrono::hours(1)), planner::SessionGone{1, "bye"}});
    tuning.reset();
    ASSERT_TRUE(loop_.RunUntil([this] { return came_.has_value(); }));
    EXPECT_EQ(*came_, planner::Conclude(*thought));
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
