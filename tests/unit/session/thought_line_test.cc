// Tunings in line for the one thinker.
#include "daemon/session/thought_line.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "tests/fakes/held_thinker.h"

namespace blazed::session {
namespace {

class ThoughtLineTest : public testing::Test {
 protected:
  // A space of nothing: thought about at once.
  static std::shared_ptr<const planner::Thought> SomeThought() {
    auto space =
        std::make_shared<const planner::Space>(planner::WorkloadSpec(), planner::Contract());
    planner::Search search(space.get(), planner::SearchProfile());
    return std::make_shared<const planner::Thought>(
        planner::Thought{space, std::move(search), planner::Question()});
  }

  void SetUp() override {
    line_.emplace(
        thinker_,
        [this](storage::TuningId tuning, const planner::Think& asked) {
          return wanted_[tuning] == asked.request ? SomeThought() : nullptr;
        },
        [this](storage::TuningId tuning, const planner::ThoughtDone& done) {
          came_.push_back({tuning, done.request});
        });
  }
  void Join(storage::TuningId tuning, uint64_t request) {
    wanted_[tuning] = request;
    line_->Join(tuning, {7, request});
  }

  using Came = std::vector<std::pair<storage::TuningId, uint64_t>>;
  fakes::HeldThinker thinker_;
  std::map<storage::TuningId, uint64_t> wanted_;  // request
  Came came_;
  std::optional<ThoughtLine> line_;
};

TEST_F(ThoughtLineTest, OneThoughtAtATimeInTheOrderOfTheirComing) {
  for (storage::TuningId tuning = 1; tuning <= 4; ++tuning) Join(tuning, 10 + tuning);
  EXPECT_EQ(thinker_.asked, 1);
  while (thinker_.End()) {
  }
  EXPECT_FALSE(thinker_.overlapped);
  EXPECT_EQ(came_, (Came{{1, 11}, {2, 12}, {3, 13}, {4, 14}}));
}

TEST_F(ThoughtLineTest, ATuningThatAsksAgainKeepsItsOnePlace) {
  Join(1, 1);
  Join(2, 1);
  Join(3, 1);
  for (uint64_t request = 2; request < 100; ++request) Join(2, request);
  EXPECT_EQ(line_->size(), 2u);
  while (thinker_.End()) {
  }
  EXPECT_EQ(came_, (Came{{1, 1}, {2, 99}, {3, 1}}));
}

TEST_F(ThoughtLineTest, WhatNobodyWaitsForAnyMoreIsNotThoughtAbout) {
  Join(1, 1);
  Join(2, 1);
  Join(3, 1);
  wanted_.erase(2);
  while (thinker_.End()) {
  }
  EXPECT_EQ(thinker_.asked, 2);
  EXPECT_EQ(came_, (Came{{1, 1}, {3, 1}}));
}

TEST_F(ThoughtLineTest, AThoughtThatOutlivesTheLineTellsNobody) {
  Join(1, 1);
  line_.reset();
  EXPECT_TRUE(thinker_.End());
  EXPECT_TRUE(came_.empty());
}

}  // namespace
}  // namespace blazed::session
