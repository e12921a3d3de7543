// An operator's change, and whom it finds in which state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/session/session_table_fixture.h"

namespace blazed::session {
namespace {

using planner::Mode;
using testing::HasSubstr;

using ModeChangeTest = SessionTableTest;

TEST_F(ModeChangeTest, AHelloThatWaitsForTheStoreDoesNotEscapeAPause) {
  Client client = Connect(Me());
  std::optional<absl::Status> done;
  table_->Receive(client.link, 1, TuneHello(), [&done](absl::Status status) { done = status; });
  ASSERT_FALSE(done.has_value()) << "the store's answer comes over the loop";
  options_.pause = Pause::kOn;
  table_->Reload(options_);
  ASSERT_TRUE(loop_.RunUntil([&] { return done.has_value(); }));
  const auto* welcome = client.link->Last<session::Welcome>();
  ASSERT_NE(welcome, nullptr);
  EXPECT_EQ(welcome->mode, Mode::kObserve);
  EXPECT_THAT(welcome->mode_reason, HasSubstr("paused"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "and holds no device";
  const auto number = table_->FindByToken(welcome->token, "uid:1000");
  ASSERT_TRUE(number.ok());
  ASSERT_EQ(Events("none"), 0u);  // everything is written
  const auto row = writer_->NewReader()->Session(*number);
  ASSERT_TRUE(row.ok() && row->has_value());
  EXPECT_EQ((*row)->mode, Mode::kObserve);
}

TEST_F(ModeChangeTest, AHelloThatWaitsForTheStoreGetsWhatIsAllowedByThen) {
  options_.max_mode = Mode::kPinned;
  table_->Reload(options_);
  Client client = Connect(Me());
  std::optional<absl::Status> done;
  table_->Receive(client.link, 1, TuneHello(), [&done](absl::Status status) { done = status; });
  options_.max_mode = Mode::kTune;
  table_->Reload(options_);
  ASSERT_TRUE(loop_.RunUntil([&] { return done.has_value(); }));
  EXPECT_EQ(client.link->Last<session::Welcome>()->mode, Mode::kTune);
  EXPECT_EQ(client.link->Last<session::Welcome>()->mode_reason, "");
}

TEST_F(ModeChangeTest, AFallOfTheModeSendsTheSessionToTheDefault) {
  Client client = Described(Me());
  options_.max_mode = Mode::kPinned;
  table_->Reload(options_);
  ASSERT_NE(client.link->Last<planner::Stand>(), nullptr);
  EXPECT_EQ(client.link->Last<planner::Stand>()->reason, planner::StandReason::kPolicy);
  EXPECT_EQ(client.link->end->code(), absl::StatusCode::kUnavailable);
}

TEST_F(ModeChangeTest, ARiseOfTheModeTakesNoPlanAway) {
  options_.max_mode = Mode::kPinned;
  table_->Reload(options_);
  Client client = Described(Me());
  options_.max_mode = Mode::kTune;
  table_->Reload(options_);
  EXPECT_EQ(client.link->Last<planner::Stand>(), nullptr);
  EXPECT_EQ(client.link->end->code(), absl::StatusCode::kUnavailable) << "it comes back to tune";
}

}  // namespace
}  // namespace blazed::session
