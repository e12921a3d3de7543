// The last word: no variant touches a live step without its proof.
#include <gtest/gtest.h>

#include "tests/unit/shim/engine_fixture.h"

namespace blazed::shim {
namespace {

using testing::Test;
using ProofTest = EngineTest;

TEST_F(ProofTest, BuildAnswersWithTheSignatureOfARun) {
  Start();
  OrderBuild(1, Behaviour::kGood);
  Step();
  const auto built = daemon.Sent(v1::ShimMessage::kVariantBuilt);
  ASSERT_EQ(built.size(), 1u);
  EXPECT_EQ(built[0].variant_built().status(), v1::BUILD_STATUS_OK);
  EXPECT_EQ(built[0].variant_built().signature(), std::string(16, 101));
  EXPECT_EQ(built[0].variant_built().build_ns(), host.build_ns);
  EXPECT_EQ(ran.back(), 0u);
}

TEST_F(ProofTest, AnUnnamedSignatureIsLearntFromOneRun) {
  host.names_signature = false;
  Start();
  OrderBuild(1, Behaviour::kGood);
  Step();
  EXPECT_EQ(host.probes[1], 1);
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kVariantBuilt)[0].variant_built().signature(),
            std::string(16, 101));
}

TEST_F(ProofTest, AFailedBuildIsAnAnswer) {
  Start();
  OrderBuild(1, Behaviour::kBuildFails);
  Step();
  const auto built = daemon.Sent(v1::ShimMessage::kVariantBuilt)[0].variant_built();
  EXPECT_EQ(built.status(), v1::BUILD_STATUS_FAILED);
  EXPECT_EQ(built.reason(), "no kernel for this width");
  EXPECT_EQ(built.signature(), "");
}

TEST_F(ProofTest, MemoryAboveTheDefaultsIsRefusedAndTheVariantDropped) {
  config.extra_memory_bytes = 999;
  Start();
  OrderBuild(1, Behaviour::kHungry);
  Step();
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kVariantBuilt)[0].variant_built().status(),
            v1::BUILD_STATUS_MEMORY);
  EXPECT_TRUE(host.live.empty());
}

TEST_F(ProofTest, MemoryThatTheJobAllowsIsNoRefusal) {
  config.extra_memory_bytes = 1000;
  Start();
  OrderBuild(1, Behaviour::kHungry);
  Step();
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kVariantBuilt)[0].variant_built().status(),
            v1::BUILD_STATUS_OK);
}

TEST_F(ProofTest, ThreeLiveBatchesAreThreeSteps) {
  Start();
  OrderBuild(1, Behaviour::kGood);
  OrderProbe(1);
  Steps(2);
  EXPECT_TRUE(daemon.Sent(v1::ShimMessage::kProbeDone).empty());
  Step();
  const auto done = daemon.Sent(v1::ShimMessage::kProbeDone);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].probe_done().passed_batches(), 3u);
  EXPECT_EQ(done[0].probe_done().summary().equivalence(), v1::EQUIVALENCE_IDENTICAL);
  EXPECT_EQ(done[0].probe_done().summary().elements(), 3 * 64u);
  // The default once a point, and twice more at the first for its own error.
  EXPECT_EQ(host.probes[0], 5);
  EXPECT_EQ(host.probes[1], 3);
}

// The same batch again proves nothing, whoever asks.
TEST_F(ProofTest, ThreeProbesOfOneStepAreNotThreeLiveBatches) {
  Start();
  OrderBuild(1, Behaviour::kGood);
  for (uint64_t probe = 9; probe < 12; ++probe) daemon.Orders(Probe{probe, {1}, 1});
  OrderPairs(77, 0, 1);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(Step(), 0u);
    EXPECT_EQ(host.probes[1], i);
  }
}

TEST_F(ProofTest, VariantsUnderOneProbeShareTheDefaultsRuns) {
  Start();
  OrderBuild(1, Behaviour::kGood);
  OrderBuild(2, Behaviour::kRounded);
  daemon.Orders(Probe{9, {1, 2}, 3});
  Steps(3);
  EXPECT_EQ(host.probes[0], 5);
  const auto done = daemon.Sent(v1::ShimMessage::kProbeDone);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].probe_done().summary().equivalence(), v1::EQUIVALENCE_ROUNDING);
}

TEST_F(ProofTest, AnUnprovenVariantIsNeverRun) {
  Start();
  OrderBuild(1, Behaviour::kGood);
  OrderPairs(77, 0, 1);
  OrderAdopt(1);
  Steps(8);
  EXPECT_EQ(ran, std::vector<uint64_t>(8, 0));
  const auto refusals = daemon.Refusals();
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[0].directive_id(), 77u);
  EXPECT_EQ(refusals[0].variant(), 1u);
  EXPECT_EQ(refusals[0].reason(), v1::REFUSAL_REASON_NOT_PROVEN);
  EXPECT_EQ(refusals[1].reason(), v1::REFUSAL_REASON_NOT_PROVEN);
}

// Who asks for how many batches, and after how many of them the variant is proven.
struct Asked {
  uint32_t job;
  uint32_t welcome;
  uint32_t probe;
  int needed;
};
class BatchesAsked : public EngineTest, public testing::WithParamInterface<Asked> {};

TEST_P(BatchesAsked, TheStrictestDecidesAndTheProbeGoesOnUntilThen) {
  config.probe_batches = GetParam().job;
  daemon.link.welcome.probe_batches = GetParam().welcome;
  Start();
  OrderBuild(1, Behaviour::kGood);
  OrderProbe(1, GetParam().probe);
  OrderPairs(77, 0, 1, 1);
  Steps(GetParam().needed - 1);
  EXPECT_TRUE(daemon.Sent(v1::ShimMessage::kProbeDone).empty());
  Steps(2);
  const auto done = daemon.Sent(v1::ShimMessage::kProbeDone);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].probe_done().passed_batches(), static_cast<uint32_t>(GetParam().needed));
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kStepsDone).size(), 1u);
  EXPECT_TRUE(daemon.Refusals().empty());
}

INSTANTIATE_TEST_SUITE_P(Each, BatchesAsked,
                         testing::Values(Asked{3, 3, 2, 3}, Asked{3, 1, 1, 3}, Asked{7, 3, 3, 7},
                                         Asked{3, 5, 3, 5}, Asked{3, 3, 6, 6},
                                         Asked{20, 3, 16, 20}));

TEST_F(ProofTest, AProvenVariantIsProbedForAsManyBatchesAsWereAsked) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  daemon.Orders(Probe{9, {1}, 1});
  Steps(4);
  EXPECT_EQ(host.probes[handle], 4);
}

// A daemon that reads its configuration again asks later sessions for more.
TEST_F(ProofTest, AResumedStreamAsksForNoMoreThanTheSessionsFirstWelcome) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  daemon.Loses("gone");
  daemon.link.welcome.probe_batches = 9;
  daemon.Welcomes();
  OrderPairs(77, 0, 1, 1);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(Step(), handle);
  EXPECT_TRUE(daemon.Refusals().empty());
}

TEST_F(ProofTest, AFreshSessionAsksForWhatItsOwnWelcomeSays) {
  Start();
  Prove(1, Behaviour::kGood);
  OrderAdopt(1);
  Step();
  daemon.link.welcome.probe_batches = 5;
  daemon.Welcomes(WireMode::kTune, 2);
  daemon.Orders(Build{1, 1, PlanOf(Behaviour::kGood), 0});
  OrderPairs(77, 0, 1, 1);
  Step();
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_PROVEN);
  daemon.Orders(Probe{9, {1}, 1});
  OrderPairs(78, 0, 1, 1);
  Steps(4);
  const auto done = daemon.Sent(v1::ShimMessage::kProbeDone);
  EXPECT_EQ(done.back().probe_done().passed_batches(), 5u);
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kStepsDone).size(), 1u);
}

TEST_F(ProofTest, AProvenVariantRunsItsPairs) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 2);
  Steps(5);
  // Bits 0b10: champion first in pair 0, challenger first in pair 1.
  EXPECT_EQ(ran, (std::vector<uint64_t>{0, handle, handle, 0, 0}));
}

struct Bad {
  Behaviour behaviour;
  v1::Equivalence verdict;
};
class BadVariant : public EngineTest, public testing::WithParamInterface<Bad> {};

TEST_P(BadVariant, IsJudgedAndNeverRuns) {
  Start();
  OrderBuild(1, GetParam().behaviour);
  OrderProbe(1);
  Steps(4);
  EXPECT_EQ(LastVerdict(), GetParam().verdict);
  OrderPairs(77, 0, 1);
  OrderAdopt(1);
  Steps(6);
  ASSERT_EQ(daemon.Refusals().size(), 2u);
  const bool rejected = GetParam().verdict != v1::EQUIVALENCE_INCONCLUSIVE;
  for (const auto& refusal : daemon.Refusals()) {
    EXPECT_EQ(refusal.reason(),
              rejected ? v1::REFUSAL_REASON_REJECTED_EARLIER : v1::REFUSAL_REASON_NOT_PROVEN);
  }
  EXPECT_EQ(ran, std::vector<uint64_t>(10, 0));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadVariant,
    testing::Values(Bad{Behaviour::kDropsTile, v1::EQUIVALENCE_REJECTED_DIFFERENT},
                    Bad{Behaviour::kNan, v1::EQUIVALENCE_REJECTED_BROKEN},
                    Bad{Behaviour::kFaults, v1::EQUIVALENCE_REJECTED_BROKEN},
                    Bad{Behaviour::kSameSignature, v1::EQUIVALENCE_INCONCLUSIVE}));

TEST_F(ProofTest, ARejectedVariantIsNotProbedAgain) {
  Start();
  OrderBuild(1, Behaviour::kNan);
  OrderProbe(1);
  Steps(2);
  daemon.Orders(Probe{9, {1}, 3});
  Steps(2);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_REJECTED_EARLIER);
  EXPECT_EQ(host.probes[1], 1);
}

TEST_F(ProofTest, ARejectedCandidateIsAVerdictThatNamesItsPlan) {
  std::vector<std::pair<blz_log_level, std::string>> said;
  config.log = [](void* user, blz_log_level level, const char* sentence) {
    static_cast<decltype(said)*>(user)->emplace_back(level, sentence);
  };
  config.log_user = &said;
  Start();
  OrderBuild(1, Behaviour::kDropsTile);
  OrderProbe(1);
  Steps(2);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back().first, BLZ_LOG_INFO);
  EXPECT_EQ(said.back().second,
            "the candidate choice=" + std::to_string(static_cast<int>(Behaviour::kDropsTile)) +
                " was put aside: it does not compute the same numbers as the default plan");
}

TEST_F(ProofTest, BitwiseContractRejectsOneUlp) {
  config.contract = equivalence::Contract::kBitwise;
  Start();
  OrderBuild(1, Behaviour::kRounded);
  OrderProbe(1);
  Steps(2);
  EXPECT_EQ(LastVerdict(), v1::EQUIVALENCE_REJECTED_DIFFERENT);
}

TEST_F(ProofTest, AChangedSignatureVoidsTheProofAndTheLease) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderPairs(77, 0, 1, 4);
  Steps(2);
  host.signatures[handle] = DigestOf(9);
  Steps(4);
  // One answer: a second one to the same lease would not be read.
  EXPECT_TRUE(daemon.Sent(v1::ShimMessage::kStepsDone).empty());
  ASSERT_EQ(daemon.Refusals().size(), 1u);
  EXPECT_EQ(daemon.Refusals()[0].directive_id(), 77u);
  EXPECT_EQ(daemon.Refusals()[0].variant(), 1u);
  EXPECT_EQ(daemon.Refusals()[0].reason(), v1::REFUSAL_REASON_NOT_PROVEN);
  EXPECT_EQ(ran.back(), 0u);
  // Proven again under the signature it has, it may run again.
  daemon.Orders(Probe{9, {1}, 3});
  OrderPairs(78, 0, 1, 1);
  Steps(6);
  EXPECT_EQ(daemon.Sent(v1::ShimMessage::kStepsDone).size(), 1u);
}

TEST_F(ProofTest, ASignatureThatComesBackIsNoProof) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  const Digest first = host.signatures[handle];
  OrderPairs(77, 0, 1, 4);
  Steps(1);
  host.signatures[handle] = DigestOf(9);
  Steps(3);
  host.signatures[handle] = first;
  OrderPairs(78, 0, 1, 1);
  Steps(3);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_PROVEN);
}

TEST_F(ProofTest, AServiceProbeThatFailsStandsTheChampionDown) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1, true);
  EXPECT_EQ(Step(), handle);
  host.live[handle] = Behaviour::kNan;
  daemon.Orders(Probe{9, {1}, 1});
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(LastVerdict(), v1::EQUIVALENCE_REJECTED_BROKEN);
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.settled, 0u);
  EXPECT_EQ(info.rejected, 1u);
  EXPECT_EQ(engine->reason().rfind("the plan in use, choice=", 0), 0u) << engine->reason();
}

// Its numbers are right and it is not what was proven: what it was settled on is not what runs.
TEST_F(ProofTest, AServiceProbeUnderAnotherSignatureStandsTheChampionDown) {
  Start();
  const uint64_t handle = Prove(1, Behaviour::kGood);
  OrderAdopt(1, true);
  EXPECT_EQ(Step(), handle);
  host.signatures[handle] = DigestOf(9);
  daemon.Orders(Probe{9, {1}, 1});
  OrderPairs(77, 1, 0, 1);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(Step(), 0u);
  EXPECT_EQ(LastRefusal(), v1::REFUSAL_REASON_NOT_PROVEN);
  blz_status_info info{};
  engine->FillStatus(info);
  EXPECT_EQ(info.champion, 0u);
  EXPECT_EQ(info.settled, 0u);
  EXPECT_EQ(info.settlement, BLZ_SETTLEMENT_NONE);
}

TEST_F(ProofTest, ADefaultUnderAnotherSignatureProvesNothing) {
  Start();
  host.signatures[0] = DigestOf(55);
  OrderBuild(1, Behaviour::kGood);
  OrderProbe(1);
  Steps(3);
  EXPECT_EQ(LastVerdict(), v1::EQUIVALENCE_INCONCLUSIVE);
}

TEST_F(ProofTest, TensorsBeyondTheMemoryLimitAreInconclusive) {
  config.probe_memory_bytes = 64 * 4 - 1;
  Start();
  OrderBuild(1, Behaviour::kGood);
  OrderProbe(1);
  Steps(2);
  EXPECT_EQ(LastVerdict(), v1::EQUIVALENCE_INCONCLUSIVE);
}

}  // namespace
}  // namespace blazed::shim
