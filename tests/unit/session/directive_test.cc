// What was asked of a session and outlives its reason, its turn or its stream.
#include "daemon/session/directive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/base/log.h"
#include "tests/unit/session/session_table_fixture.h"

namespace blazed::session {
namespace {

using planner::BuildStatus;
using testing::HasSubstr;

using DirectiveTest = SessionTableTest;

bool IsBuild(const Outbound& asked) { return std::holds_alternative<planner::BuildVariant>(asked); }
bool IsProbe(const Outbound& asked) {
  return std::holds_alternative<planner::ProbeVariants>(asked);
}

size_t Drops(const fakes::RecordingLink& link, planner::VariantId variant) {
  return static_cast<size_t>(
      std::count_if(link.sent.begin(), link.sent.end(), [variant](const Outbound& sent) {
        const auto* drop = std::get_if<planner::DropVariant>(&sent);
        return drop != nullptr && drop->variant == variant;
      }));
}

TEST(Directive, KnowsItsIdAndItsVariants) {
  EXPECT_EQ(IdOf(planner::BuildVariant{1, 5, 7, {}, 6}), 5u);
  EXPECT_TRUE(Names(planner::BuildVariant{1, 5, 7, {}, 6}, 7));
  EXPECT_TRUE(Names(planner::BuildVariant{1, 5, 7, {}, 6}, 6)) << "torn down first";
  EXPECT_FALSE(Names(planner::BuildVariant{1, 5, 7, {}, 6}, 5));
  EXPECT_EQ(IdOf(planner::ProbeVariants{1, 5, {7, 8}, 3}), 5u);
  EXPECT_TRUE(Names(planner::ProbeVariants{1, 5, {7, 8}, 3}, 8));
  EXPECT_FALSE(Names(planner::ProbeVariants{1, 5, {7, 8}, 3}, 9));
  EXPECT_EQ(IdOf(planner::DropVariant{1, 7}), 0u);
  EXPECT_TRUE(Names(planner::DropVariant{1, 7}, 7));
}

// The second workload's search ends while it waits in line for the device.
TEST_F(DirectiveTest, WhatWaitsForATurnGoesWithTheSearchThatAskedForIt) {
  Client first = Described(Me("boot/1/1"), 1);
  ASSERT_TRUE(loop_.RunUntil([&] { return first.link->Last<planner::RunPairs>() != nullptr; }));
  Client second = Connect(Me("boot/2/2"));
  Hello hello = TuneHello();
  hello.tune_until_ns = 2'000'000'000;
  EXPECT_TRUE(Say(second, hello).ok());
  EXPECT_TRUE(Say(second, Graph()).ok());
  EXPECT_TRUE(Say(second, Workload(2, 2)).ok());
  EXPECT_EQ(second.link->Last<planner::ReportProgress>()->phase, planner::Phase::kWaiting);
  loop_.Advance(absl::Seconds(3));
  ASSERT_NE(second.link->Last<planner::Adopt>(), nullptr) << "its search ended";
  EXPECT_TRUE(Say(first, Bye{}).ok());
  loop_.RunReady();
  EXPECT_EQ(second.link->Last<planner::RunPairs>(), nullptr);
  EXPECT_FALSE(second.link->end.has_value());
}

TEST_F(DirectiveTest, WhatWaitsSinceTheTurnWasLostGoesWithTheSearchToo) {
  options_.device_turn = absl::ZeroDuration();
  table_->Reload(options_);
  Client first = Connect(Me("boot/1/1"));
  Hello hello = TuneHello();
  hello.tune_until_ns = 2'000'000'000;
  EXPECT_TRUE(Say(first, hello).ok());
  EXPECT_TRUE(Say(first, Graph()).ok());
  EXPECT_TRUE(Say(first, Workload(1, 2)).ok());
  Client second = Described(Me("boot/2/2"), 2);
  Answer(first, BuildStatus::kOk);
  ASSERT_NE(second.link->Last<planner::RunPairs>(), nullptr) << "the turn passed on";
  const size_t builds = first.link->Count<planner::BuildVariant>();
  const size_t leases = first.link->Count<planner::RunPairs>();
  loop_.Advance(absl::Seconds(3));
  EXPECT_TRUE(Say(second, Bye{}).ok());
  loop_.RunReady();
  EXPECT_EQ(first.link->Count<planner::BuildVariant>(), builds);
  EXPECT_EQ(first.link->Count<planner::RunPairs>(), leases);
}

TEST_F(DirectiveTest, ATurnThatComesInADrainLendsNothing) {
  Client first = Described(Me("boot/1/1"), 1);
  ASSERT_TRUE(loop_.RunUntil([&] { return first.link->Last<planner::RunPairs>() != nullptr; }));
  Client second = Described(Me("boot/2/2"), 2);
  bool drained = false;
  table_->Drain(absl::Seconds(60), [&] { drained = true; });
  EXPECT_TRUE(Say(first, Bye{}).ok());
  loop_.RunReady();
  EXPECT_EQ(second.link->Last<planner::RunPairs>(), nullptr);
  EXPECT_TRUE(drained);
}

TEST_F(DirectiveTest, ADropIsSaidAgainUntilTheShimMustHaveIt) {
  Client first = Described(Me());
  const SessionToken token = first.link->Last<session::Welcome>()->token;
  Answer(first, BuildStatus::kFailed, IsBuild);
  const auto* build = first.link->Last<planner::BuildVariant>();
  ASSERT_NE(build, nullptr);
  // The one answered is the first that was asked; the others stay open.
  const planner::VariantId failed =
      std::get<planner::BuildVariant>(first.link->sent[first.answered]).variant;
  EXPECT_TRUE(Say(first, *AnswerTo(first.link->sent[first.answered], BuildStatus::kFailed)).ok());
  loop_.RunReady();
  ASSERT_EQ(Drops(*first.link, failed), 1u);
  table_->Detach(first.link, "lost");
  Client second = Resume(token);
  EXPECT_EQ(Drops(*second.link, failed), 1u) << "it may have been lost with the stream";
  Answer(second, BuildStatus::kFailed);
  // The end of the search is asked and answered behind the drop.
  ASSERT_TRUE(loop_.RunUntil([&] { return second.link->Last<planner::Adopt>() != nullptr; }));
  Answer(second, BuildStatus::kFailed);
  table_->Detach(second.link, "lost");
  Client third = Resume(token);
  EXPECT_EQ(Drops(*third.link, failed), 0u);
}

TEST_F(DirectiveTest, WhatTheSearchWaitsForNoMoreIsNotSaidAgain) {
  Client first = Connect(Me());
  Hello hello = TuneHello();
  hello.tune_until_ns = 2'000'000'000;
  EXPECT_TRUE(Say(first, hello).ok());
  EXPECT_TRUE(Say(first, Graph()).ok());
  EXPECT_TRUE(Say(first, Workload(1, 2)).ok());
  const SessionToken token = first.link->Last<session::Welcome>()->token;
  Answer(first, BuildStatus::kOk, IsBuild);
  ASSERT_NE(first.link->Last<planner::BuildVariant>(), nullptr);
  loop_.Advance(absl::Seconds(3));
  ASSERT_NE(first.link->Last<planner::Adopt>(), nullptr) << "its search ended";
  table_->Detach(first.link, "lost");
  Client second = Resume(token);
  EXPECT_EQ(second.link->Last<planner::BuildVariant>(), nullptr);
  EXPECT_NE(second.link->Last<planner::Adopt>(), nullptr);
}

TEST_F(DirectiveTest, ARefusalCountsOnceAndForWhatItsDirectiveNames) {
  Client client = Described(Me());
  Answer(client, BuildStatus::kOk, IsProbe);
  const auto* probe = client.link->Last<planner::ProbeVariants>();
  ASSERT_NE(probe, nullptr);
  planner::DirectiveRefused refusal;
  refusal.directive = probe->probe;
  refusal.variant = 999;
  EXPECT_TRUE(Say(client, refusal).ok());
  ASSERT_NE(client.link->Last<Refused>(), nullptr);
  EXPECT_THAT(client.link->Last<Refused>()->detail, HasSubstr("does not name variant 999"));
  EXPECT_EQ(Events("directive_refused"), 0u);
  refusal.variant = 0;  // all of it
  EXPECT_TRUE(Say(client, refusal).ok());
  EXPECT_TRUE(Say(client, refusal).ok());
  EXPECT_TRUE(Say(client, refusal).ok());
  EXPECT_EQ(Events("directive_refused"), 1u);
  EXPECT_EQ(client.link->Count<Refused>(), 1u) << "a repeat is no mistake";
}

TEST_F(DirectiveTest, ABuildIsRefusedInItsOwnName) {
  Client client = Described(Me());
  Answer(client, BuildStatus::kOk, IsBuild);
  const planner::BuildVariant build = *client.link->Last<planner::BuildVariant>();
  planner::DirectiveRefused refusal;
  refusal.directive = build.build;
  refusal.variant = build.variant + 100;
  EXPECT_TRUE(Say(client, refusal).ok());
  EXPECT_EQ(client.link->Count<Refused>(), 1u);
  EXPECT_EQ(Events("directive_refused"), 0u);
  refusal.variant = build.variant;
  EXPECT_TRUE(Say(client, refusal).ok());
  EXPECT_EQ(Events("directive_refused"), 1u);
}

// What was settled for the workload that Described gives, in an earlier life.
planner::SettlementRecord Settled() {
  planner::SettlementRecord record;
  record.kind = planner::SettlementKind::kReplicated;
  record.plan = {{0, 1}};
  record.champion_signature = DigestOf(150);
  record.default_signature = DigestOf(200);
  return record;
}

std::optional<Inbound> ProofOf(const Outbound& asked) {
  if (const auto* build = std::get_if<planner::BuildVariant>(&asked)) {
    planner::VariantBuilt done;
    done.build = build->build;
    done.variant = build->variant;
    done.signature = DigestOf(150);
    return done;
  }
  if (const auto* probe = std::get_if<planner::ProbeVariants>(&asked)) {
    planner::ProbeDone done;
    done.probe = probe->probe;
    done.variant = probe->variants[0];
    done.summary.equivalence = planner::Equivalence::kIdentical;
    done.summary.elements = 1;
    done.passed_batches = probe->batches;
    return done;
  }
  return std::nullopt;
}

// The shim's answer to the adoption crosses its refusal to go on with the plan, as where it says
// both to a stream that came back.
TEST_F(DirectiveTest, AnAdoptedPlanThatTheHostRefusesLaterStandsDownOnce) {
  Client before = Described(Me("boot/1/1"));
  EXPECT_TRUE(Say(before, Bye{}).ok());
  ASSERT_TRUE(
      writer_
          ->Run(storage::Durability::kSynced,
                [](storage::Store& store) { return store.PutSettlement(1, Settled()).status(); })
          .ok());
  Client client = Described(Me("boot/2/2"));
  for (; client.answered < client.link->sent.size(); ++client.answered) {
    const Outbound asked = client.link->sent[client.answered];
    std::optional<Inbound> answer = ProofOf(asked);
    if (!answer) answer = AnswerTo(asked, BuildStatus::kOk);
    if (!answer) continue;
    EXPECT_TRUE(Say(client, *std::move(answer)).ok());
  }
  const auto* adopt = client.link->Last<planner::Adopt>();
  ASSERT_TRUE(adopt != nullptr && adopt->variant != planner::kDefaultVariant);
  planner::DirectiveRefused refusal;
  refusal.directive = adopt->adopt;
  refusal.variant = adopt->variant;
  refusal.reason = planner::Refusal::kNotProven;
  refusal.detail = "it runs as something else by now";
  log::Capture capture;
  EXPECT_TRUE(Say(client, refusal).ok());
  EXPECT_TRUE(capture.Has({"runs an adopted plan no longer", refusal.detail}));
  const auto* stand = client.link->Last<planner::Stand>();
  ASSERT_NE(stand, nullptr);
  EXPECT_EQ(stand->detail, refusal.detail);
  EXPECT_TRUE(Say(client, refusal).ok());
  EXPECT_EQ(Events("directive_refused"), 1u);
}

}  // namespace
}  // namespace blazed::session
