#include "daemon/planner/gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace blazed::planner {
namespace {

ComparisonSummary Identical() {
  ComparisonSummary s;
  s.equivalence = Equivalence::kIdentical;
  s.elements = 100;
  return s;
}

ComparisonSummary Rounded() {
  ComparisonSummary s = Identical();
  s.equivalence = Equivalence::kRounding;
  s.mismatches = 7;
  s.max_abs = 1e-6;
  s.max_rel = 1e-5;
  s.digest_variant = Digest{1};
  return s;
}

Verdict VerdictOf(Contract contract, const ComparisonSummary& s, uint32_t passed = 3) {
  return JudgeProbe(contract, s, passed, 3).verdict;
}

TEST(Gates, ProveAnIdenticalVariantUnderEveryContract) {
  for (Contract c : {Contract::kBitwise, Contract::kRounding, Contract::kPrediction}) {
    EXPECT_EQ(VerdictOf(c, Identical()), Verdict::kProven);
  }
}

TEST(Gates, RejectRoundingUnderBitwiseAndProveItUnderRounding) {
  EXPECT_EQ(VerdictOf(Contract::kBitwise, Rounded()), Verdict::kRejectedDifferent);
  EXPECT_EQ(VerdictOf(Contract::kRounding, Rounded()), Verdict::kProven);
}

TEST(Gates, RejectWhateverTheShimRejected) {
  ComparisonSummary s = Rounded();
  s.equivalence = Equivalence::kRejectedDifferent;
  EXPECT_EQ(VerdictOf(Contract::kPrediction, s), Verdict::kRejectedDifferent);
  s.equivalence = Equivalence::kRejectedBroken;
  EXPECT_EQ(VerdictOf(Contract::kPrediction, s), Verdict::kRejectedBroken);
}

TEST(Gates, TellARunThatFailedFromWrongNumbers) {
  ComparisonSummary s;
  s.equivalence = Equivalence::kRejectedBroken;
  const GateAnswer failed = JudgeProbe(Contract::kRounding, s, 0, 3);
  EXPECT_TRUE(failed.faulted);
  EXPECT_EQ(failed.reason, "its probe failed to run, where the default's run did not");
  s.nan_variant = 1;
  EXPECT_FALSE(JudgeProbe(Contract::kRounding, s, 0, 3).faulted);
  s.nan_variant = 0;
  s.inf_variant = s.inf_default = 1;  // of the other sign
  EXPECT_FALSE(JudgeProbe(Contract::kRounding, s, 0, 3).faulted);
}

TEST(Gates, CallNaNOrInfThatTheDefaultLacksBroken) {
  ComparisonSummary s = Identical();
  s.nan_variant = 1;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kRejectedBroken);
  s.nan_default = 1;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kProven);
  s.inf_variant = 2;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kRejectedBroken);
}

TEST(Gates, RejectDifferentPredictionsWhateverTheShimSaid) {
  ComparisonSummary s = Rounded();
  s.prediction_disagreements = 1;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kRejectedDifferent);
  EXPECT_EQ(VerdictOf(Contract::kPrediction, s), Verdict::kRejectedDifferent);
}

TEST(Gates, RejectIdenticalWithUnequalDigestsOrElements) {
  ComparisonSummary s = Identical();
  s.digest_variant = Digest{1};
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kRejectedDifferent);
  s = Identical();
  s.mismatches = 1;
  EXPECT_EQ(VerdictOf(Contract::kBitwise, s), Verdict::kRejectedDifferent);
}

TEST(Gates, ProveNothingFromNothing) {
  ComparisonSummary s = Identical();
  s.elements = 0;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kInconclusive);
  s.equivalence = Equivalence::kNothingToCheck;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kInconclusive);
  s = Identical();
  s.equivalence = Equivalence::kInconclusive;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kInconclusive);
}

TEST(Gates, RefuseNumbersThatCannotBe) {
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1.0}) {
    ComparisonSummary s = Rounded();
    s.max_rel = bad;
    EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kInconclusive);
  }
  ComparisonSummary s = Rounded();
  s.mismatches = s.elements + 1;
  EXPECT_EQ(VerdictOf(Contract::kRounding, s), Verdict::kInconclusive);
}

TEST(Gates, WaitForEveryLiveBatch) {
  EXPECT_EQ(VerdictOf(Contract::kRounding, Identical(), 2), Verdict::kInconclusive);
}

TEST(Gates, RefuseMoreMemoryThanTheJobAllows) {
  EXPECT_TRUE(FitsMemory(100, 100, 0));
  EXPECT_TRUE(FitsMemory(110, 100, 10));
  EXPECT_FALSE(FitsMemory(111, 100, 10));
  EXPECT_TRUE(FitsMemory(111, 0, 0));
  EXPECT_TRUE(FitsMemory(~0ull, 1, ~0ull));
}

}  // namespace
}  // namespace blazed::planner
