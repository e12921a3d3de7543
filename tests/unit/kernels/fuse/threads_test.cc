#include "kernels/fuse/threads.h"

#include <gtest/gtest.h>

namespace blazed::fuse {
namespace {

std::vector<std::string> Offered(int most) {
  DecisionSpace space;
  EXPECT_TRUE(OfferThreads(most, &space).ok());
  std::vector<std::string> names;
  for (const Decision& decision : space.decisions) {
    for (const Option& option : decision.options) names.push_back(option.name);
  }
  return names;
}

TEST(OfferThreads, NamesPowersOfTwoAndTheMost) {
  EXPECT_EQ(Offered(2), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(Offered(6), (std::vector<std::string>{"1", "2", "4", "6"}));
  EXPECT_EQ(Offered(8), (std::vector<std::string>{"1", "2", "4", "8"}));
}

TEST(OfferThreads, DecidesNothingForOneThread) { EXPECT_TRUE(Offered(1).empty()); }

TEST(OfferThreads, BelongsToTheWholeStepAndPromisesTheSameBits) {
  DecisionSpace space;
  ASSERT_TRUE(OfferThreads(4, &space).ok());
  const Decision& decision = space.decisions[0];
  EXPECT_TRUE(decision.sites.empty());
  for (const Option& option : decision.options) {
    EXPECT_EQ(option.numerics, Numerics::kSameBits);
    EXPECT_FALSE(option.description.empty());
  }
  EXPECT_TRUE(CheckPlan(space, {{0, 2}}).ok());
  EXPECT_EQ(ThreadsOf(space, {}), 1);
  EXPECT_EQ(ThreadsOf(space, {{0, 1}}), 2);
  EXPECT_EQ(ThreadsOf(space, {{0, 2}}), 4);
  EXPECT_EQ(ThreadsOf(DecisionSpace{}, {}), 1);
}

TEST(OfferThreads, IsAnotherDecisionWhereMoreAreAllowed) {
  DecisionSpace two, four;
  ASSERT_TRUE(OfferThreads(2, &two).ok());
  ASSERT_TRUE(OfferThreads(4, &four).ok());
  EXPECT_NE(two.decisions[0].id, four.decisions[0].id);
}

TEST(OfferThreads, RefusesAGraphThatIsFull) {
  DecisionSpace space;
  space.decisions.resize(kMaxDecisions);
  EXPECT_EQ(OfferThreads(2, &space).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace blazed::fuse
