#include "daemon/history/explain.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/history/settled_story.h"

namespace blazed::history {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Evidence EvidenceOf(const storage::Reader::SessionStory& story) {
  return {story.workload.spec, story.key, story.settlement, std::nullopt, story.plans,
          story.races,         "",        std::nullopt};
}

TEST(Explain, SaysWhatWonByHowMuchAndWhatItCost) {
  Evidence evidence = EvidenceOf(Settled());
  evidence.drift = planner::DriftTimer{1, 500, 250};
  const auto sentences = Explain(evidence, nullptr);
  EXPECT_THAT(sentences, Contains(HasSubstr("attention/forward=streamed saves 5.0 % of a step "
                                            "(4.0 % to 6.0 %): 1.9 ms instead of 2 ms")));
  EXPECT_THAT(sentences, Contains(HasSubstr("won a second time over 40 pairs")));
  EXPECT_THAT(sentences, Contains(HasSubstr("3 candidates: ")));
  EXPECT_THAT(sentences, Contains(HasSubstr("paid back after 1234 steps")));
  EXPECT_THAT(sentences, Contains(HasSubstr("after 250 more steps")));
}

TEST(Explain, SaysWhereAnotherProcessReplicatesAWinBeforeItAdoptsIt) {
  Evidence evidence = EvidenceOf(Settled());
  EXPECT_THAT(Explain(evidence, nullptr),
              Contains(HasSubstr("the next process replicates it where its signatures differ")));
  evidence.settlement->record.gain = {0.012, 0.006, 0.018};
  EXPECT_THAT(Explain(evidence, nullptr),
              Contains(HasSubstr("another one replicates it before adopting it, because the "
                                 "luckiest of 3 plans may be 0.8 % faster in one process alone")));
}

TEST(Explain, SaysWhatLongDwellsShowed) {
  storage::Reader::SessionStory story = Settled();
  storage::StoredRace dwell = story.races.front();
  dwell.id = 9;
  dwell.record.kind = planner::RaceKind::kDwell;
  dwell.record.reason = "the win is there in 2 blocks of long dwells";
  story.races.push_back(dwell);
  const Evidence evidence = EvidenceOf(story);
  EXPECT_THAT(Explain(evidence, nullptr), Contains(dwell.record.reason));
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(HasSubstr("in its last race, a verification race")));
}

TEST(Explain, SaysNextWhereAStepsTimeWent) {
  Evidence evidence = EvidenceOf(Settled());
  evidence.kernels = storage::StoredKernels{};
  storage::PlanKernels& kernels = evidence.kernels->record;
  kernels.plan = evidence.settlement->record.plan;
  kernels.before.totals = {2'500'000, 700'000, 412, 412};
  kernels.after.totals = {2'100'000, 1'800'000, 412, 1};
  const char sentence[] =
      "in a step of the default plan kernels run for 700 µs of 2 ms (35.0 %), 412 kernels by 412 "
      "launches; in one of this plan kernels run for 1.8 ms of 1.9 ms (94.7 %), 412 kernels by 1 "
      "launch";
  EXPECT_EQ(Explain(evidence, nullptr).at(1), sentence);
  kernels.plan = evidence.plans[2].record.plan;
  EXPECT_THAT(Explain(evidence, &evidence.plans[2]).back(),
              HasSubstr("kernels run for 700 µs of 2.5 ms (28.0 %) under a profiler"))
      << "of a plan that was not settled no race without a profiler is at hand";
}

TEST(Explain, SaysWhyNotThatOne) {
  const Evidence evidence = EvidenceOf(Settled());
  const auto sentences = Explain(evidence, &evidence.plans[2]);
  ASSERT_FALSE(sentences.empty());
  EXPECT_THAT(sentences.front(), HasSubstr("duplicate, ran the same as plan 1"));
  const auto champion = Explain(evidence, &evidence.plans[0]);
  EXPECT_THAT(champion, Contains(HasSubstr("a verification race against default, it won after 20 "
                                           "pairs")));
}

TEST(Explain, SaysWhatAComparisonWasJudgedBy) {
  Evidence evidence = EvidenceOf(Settled());
  planner::PlanRecord& record = evidence.plans[0].record;
  record.has_comparison = true;
  record.comparison.equivalence = planner::Equivalence::kRounding;
  record.comparison.own_max_rel = 1e-7;
  record.comparison.allowed_max_rel = 6e-5;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(HasSubstr("re-ordered sums explain 6e-05 of the largest")));
  record.comparison.own_max_rel = 1e-3;
  record.comparison.allowed_max_rel = 4e-3;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(HasSubstr("the default's own error of 0.001 allows 0.004 of the largest")));
  record.comparison.own_max_rel = 0.125;  // a quarter is the most that is allowed
  record.comparison.allowed_max_rel = 0.25;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(HasSubstr("the default's own error of 0.12 allows 0.25 of the largest")));
  record.comparison.own_max_rel = 0.3;  // too large to judge by
  record.comparison.allowed_max_rel = 6e-5;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(HasSubstr("re-ordered sums explain 6e-05 of the largest")));
}

TEST(Explain, SaysOfEveryNumberOfAComparisonWhatItIs) {
  Evidence evidence = EvidenceOf(Settled());
  planner::PlanRecord& record = evidence.plans[0].record;
  record.has_comparison = true;
  planner::ComparisonSummary& found = record.comparison;
  found = {};
  found.equivalence = planner::Equivalence::kRounding;
  found.elements = 262144;
  found.mismatches = 32073;
  found.max_abs = 3.1e-7;
  found.max_rel = 0.044;
  found.allowed_max_rel = 6.1e-5;
  found.worst_tensor = "grad w1";
  const std::string counted =
      "its probe found 32073 of 262144 numbers different in their bits, by at most 3.1e-07 in "
      "absolute terms and 4.4 % of the number itself; ";
  EXPECT_THAT(
      Explain(evidence, &evidence.plans[0]),
      Contains(counted + "nearest to its bound is what differs in grad w1, where re-ordered "
                         "sums explain 6.1e-05 of the largest number there"));
  found.equivalence = planner::Equivalence::kRejectedDifferent;
  EXPECT_THAT(
      Explain(evidence, &evidence.plans[0]),
      Contains(counted + "beyond its bound is what differs in grad w1, where re-ordered sums "
                         "explain 6.1e-05 of the largest number there, and less for all of "
                         "them together"));
  evidence.key.contract = planner::Contract::kBitwise;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(counted + "the contract bitwise allows no difference, worst in grad w1"));
  evidence.key.contract = planner::Contract::kPrediction;
  found.prediction_disagreements = 3;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(counted + "3 of its predictions differ, and none may"));
}

TEST(Explain, TellsARunThatFailedFromOneThatGaveNaN) {
  Evidence evidence = EvidenceOf(Settled());
  planner::PlanRecord& record = evidence.plans[0].record;
  record.has_comparison = true;
  record.comparison = {};
  record.comparison.equivalence = planner::Equivalence::kRejectedBroken;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains("its probe failed to run, where the default's run did not"));
  record.comparison.nan_variant = 1;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]), Contains(HasSubstr("found NaN or infinity")));
}

TEST(Explain, GivesAnOpenEndNoNumber) {
  Evidence evidence = EvidenceOf(Settled());
  evidence.races[0].record.effect = {0.02, -2.001, 2.001};
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(HasSubstr("saves 2.0 % of a step (not bounded on either side)")));
  evidence.races[0].record.effect = {0.02, 0.01, INFINITY};
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]), Contains(HasSubstr("(at least 1.0 %)")));
  evidence.settlement->record.gain = {0.05, -9, 0.06};
  EXPECT_THAT(Explain(evidence, nullptr), Contains(HasSubstr("5.0 % of a step (at most 6.0 %)")));
  evidence.races[0].record.effect = {-64, -64, 0.01};
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]),
              Contains(HasSubstr("it is over seven times slower (at most 1.0 %)")));
  evidence.races[0].pair_count = 0;
  EXPECT_THAT(Explain(evidence, &evidence.plans[0]), Not(Contains(HasSubstr("it saves"))));
}

TEST(Explain, SaysSoWhereNothingIsSettledOrItWasDemoted) {
  Evidence evidence = EvidenceOf(Settled());
  evidence.settlement->state = storage::SettlementState::kDemoted;
  evidence.settlement->state_reason = "a service probe failed";
  EXPECT_THAT(Explain(evidence, nullptr),
              Contains(HasSubstr("demoted and is not used: a service probe failed")));
  evidence.settlement.reset();
  evidence.plans.clear();
  EXPECT_THAT(Explain(evidence, nullptr),
              ElementsAre(HasSubstr("nothing is settled"), "no candidate was named yet"));
  evidence.last_end = "the budget ended before the search did";
  EXPECT_THAT(
      Explain(evidence, nullptr),
      Contains("the latest search ended undecided: the budget ended before the search did"));
}

TEST(Explain, PutsTheChampionFirst) {
  std::vector<storage::StoredPlan> plans = Settled().plans;
  std::reverse(plans.begin(), plans.end());
  SortForPeople(plans);
  EXPECT_EQ(plans.front().record.verdict, planner::Verdict::kChampion);
  EXPECT_EQ(plans.back().record.verdict, planner::Verdict::kDuplicate);
}

}  // namespace
}  // namespace blazed::history
