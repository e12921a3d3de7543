#include "daemon/planner/confirm.h"

#include <gtest/gtest.h>

namespace blazed::planner {
namespace {

Digest Named(uint8_t n) { return Digest{n, 1}; }

WorkloadSpec ThreeBoundaries() {
  WorkloadSpec spec;
  spec.decisions.resize(3);
  for (auto& d : spec.decisions) d.options = {"merge", "cut"};
  return spec;
}

class Confirm : public ::testing::Test {
 protected:
  Confirm() { table_.SetDefault(Named(0)); }
  const Space space_{ThreeBoundaries(), Contract::kRounding};
  SignatureTable table_{&space_};
};

TEST_F(Confirm, CallsAPlanThatRunsAsTheDefaultNotHonoured) {
  const Confirmation answer = table_.Confirm({{0, 1}}, Named(0));
  EXPECT_EQ(answer.finding, Finding::kNotHonoured);
  EXPECT_EQ(answer.twin, Plan{});
}

TEST_F(Confirm, CallsTheSecondPlanOfASignatureADuplicateOfTheFirst) {
  EXPECT_EQ(table_.Confirm({{0, 1}}, Named(1)).finding, Finding::kDistinct);
  const Confirmation answer = table_.Confirm({{0, 1}, {1, 1}}, Named(1));
  EXPECT_EQ(answer.finding, Finding::kDuplicate);
  EXPECT_EQ(answer.twin, (Plan{{0, 1}}));
}

TEST_F(Confirm, KeepsThePlanThatStandsForASignatureWhenItIsBuiltAgain) {
  table_.Confirm({{0, 1}}, Named(1));
  EXPECT_EQ(table_.Confirm({{0, 1}}, Named(1)).finding, Finding::kDistinct);
}

TEST_F(Confirm, LearnsWhichOptionShowsNowhere) {
  table_.Confirm({{0, 1}}, Named(1));
  table_.Confirm({{1, 1}}, Named(0));
  EXPECT_FALSE(table_.NoOp(0));
  EXPECT_TRUE(table_.NoOp(1));
  EXPECT_FALSE(table_.NoOp(2));
}

TEST_F(Confirm, TakesAnOptionBackIntoTheSearchOnceItShows) {
  table_.Confirm({{1, 1}}, Named(0));
  table_.Confirm({{0, 1}}, Named(1));
  table_.Confirm({{0, 1}, {1, 1}}, Named(2));
  EXPECT_FALSE(table_.NoOp(1));
}

TEST_F(Confirm, ForgetsEverythingUnderAnotherDefault) {
  table_.Confirm({{0, 1}}, Named(1));
  EXPECT_FALSE(table_.SetDefault(Named(0)));
  EXPECT_TRUE(table_.Known({{0, 1}}));
  EXPECT_TRUE(table_.SetDefault(Named(9)));
  EXPECT_FALSE(table_.Known({{0, 1}}));
}

TEST_F(Confirm, FollowsAPlanThatRunsAsSomethingElseInAnotherProcess) {
  table_.Confirm({{0, 1}}, Named(1));
  table_.Confirm({{1, 1}}, Named(2));
  const Confirmation answer = table_.Confirm({{0, 1}}, Named(2));
  EXPECT_EQ(answer.finding, Finding::kDuplicate);
  EXPECT_EQ(answer.twin, (Plan{{1, 1}}));
  EXPECT_EQ(table_.Confirm({{2, 1}}, Named(1)).finding, Finding::kDistinct);
}

}  // namespace
}  // namespace blazed::planner
