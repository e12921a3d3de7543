// What a settled plan runs is asked of a session that has it in use, and kept once.
#include "tests/unit/session/session_table_fixture.h"

namespace blazed::session {
namespace {

const planner::Plan kSettled = {{0, 1}};

class KernelsTest : public SessionTableTest {
 protected:
  // Makes the tuning known and settles a plan of it, as an earlier job would have left it.
  void SetUp() override {
    SessionTableTest::SetUp();
    Client first = Described(Me("boot/1/1"));
    EXPECT_TRUE(Say(first, Bye{}).ok());
    planner::SettlementRecord settlement;
    settlement.kind = planner::SettlementKind::kReplicated;
    settlement.plan = kSettled;
    settlement.champion_signature = DigestOf(2);  // of the first build, as the fixture answers it
    settlement.default_signature = DigestOf(200);
    settlement.default_step_ns = 1'000'000;
    settlement.settled_step_ns = 500'000;
    settlement.gain = {0.5, 0.4, 0.6};
    EXPECT_TRUE(writer_
                    ->Run(storage::Durability::kSynced,
                          [&](storage::Store& store) {
                            return store.PutSettlement(1, settlement).status();
                          })
                    .ok());
  }

  // A job that is served the settled plan.
  Client Served(planner::Mode mode = planner::Mode::kTune,
                const std::string& process = "boot/2/2") {
    Client client = Connect(Me(process));
    Hello hello = TuneHello();
    hello.mode = mode;
    EXPECT_TRUE(Say(client, hello).ok());
    EXPECT_TRUE(Say(client, Graph()).ok());
    EXPECT_TRUE(Say(client, Workload(1, 2)).ok());
    for (; client.answered < client.link->sent.size(); ++client.answered) {
      const Outbound asked = client.link->sent[client.answered];
      if (const auto* probe = std::get_if<planner::ProbeVariants>(&asked)) {
        planner::ProbeDone done{0, probe->probe, probe->variants[0], {}, 1, 8};
        done.summary.equivalence = planner::Equivalence::kIdentical;
        done.summary.elements = 64;
        EXPECT_TRUE(Say(client, done).ok());
      } else if (auto answer = AnswerTo(asked, planner::BuildStatus::kOk)) {
        EXPECT_TRUE(Say(client, *std::move(answer)).ok());
      }
      loop_.RunReady();
    }
    return client;
  }

  static std::vector<planner::VariantId> Wanted(const Client& client) {
    std::vector<planner::VariantId> wanted;
    for (const Outbound& message : client.link->sent) {
      if (const auto* want = std::get_if<WantKernels>(&message)) wanted.push_back(want->variant);
    }
    return wanted;
  }

  static KernelsSeen Told(planner::VariantId variant) {
    KernelsSeen seen;
    seen.variant = variant;
    seen.before.totals.busy_ns = 700;
    seen.after.kernels.push_back({"k", 3, {}, {}, {}, {}, {}, {}});
    return seen;
  }

  static bool WasRefused(const Client& client) {
    return std::holds_alternative<Refused>(client.link->sent.back());
  }

  std::optional<storage::StoredKernels> Kept() {
    EXPECT_TRUE(
        writer_->Run(storage::Durability::kSynced, [](storage::Store&) { return absl::OkStatus(); })
            .ok());
    return *writer_->NewReader()->Kernels(1, kSettled);
  }
};

TEST_F(KernelsTest, AServedJobIsAskedOnceAndWhatItTellsIsKept) {
  Client client = Served();
  const auto wanted = Wanted(client);
  ASSERT_EQ(wanted.size(), 1u);
  EXPECT_TRUE(Say(client, Told(wanted[0])).ok());
  EXPECT_FALSE(WasRefused(client));
  const auto kept = Kept();
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->record.plan, kSettled);
  EXPECT_EQ(kept->record.before.totals.busy_ns, 700u);
  EXPECT_EQ(kept->record.after.kernels.at(0).launches, 3u);
  EXPECT_TRUE(Say(client, Told(wanted[0])).ok());
  EXPECT_TRUE(WasRefused(client)) << "once";
}

TEST_F(KernelsTest, WhatIsStoredIsNotAskedAgain) {
  Client first = Served();
  EXPECT_TRUE(Say(first, Told(Wanted(first).at(0))).ok());
  EXPECT_TRUE(Wanted(Served(planner::Mode::kTune, "boot/3/3")).empty()) << "beside the first";
  EXPECT_TRUE(Say(first, Bye{}).ok());
  EXPECT_TRUE(Wanted(Served(planner::Mode::kTune, "boot/4/4")).empty()) << "from the store";
}

TEST_F(KernelsTest, AJobThatMayTryNothingIsNotAsked) {
  Client client = Served(planner::Mode::kPinned);
  EXPECT_TRUE(std::any_of(client.link->sent.begin(), client.link->sent.end(), [](const auto& sent) {
    const auto* adopt = std::get_if<planner::Adopt>(&sent);
    return adopt != nullptr && adopt->plan == kSettled;
  })) << "it is served all the same";
  EXPECT_TRUE(Wanted(client).empty());
}

TEST_F(KernelsTest, KernelsOfWhatWasNotAskedAreRefused) {
  Client client = Served();
  const planner::VariantId wanted = Wanted(client).at(0);
  EXPECT_TRUE(Say(client, Told(wanted + 1)).ok());
  EXPECT_TRUE(WasRefused(client));
  EXPECT_EQ(Kept(), std::nullopt);
  EXPECT_TRUE(Say(client, Told(wanted)).ok());
  EXPECT_TRUE(Kept().has_value()) << "the question stands";
  Client other = Described(Me("boot/5/5"), 2);
  EXPECT_TRUE(Say(other, Told(1)).ok());
  EXPECT_TRUE(WasRefused(other));
}

TEST_F(KernelsTest, AResumedStreamIsAskedAgain) {
  Client client = Served();
  const auto* welcome = std::get_if<Welcome>(&client.link->sent.front());
  ASSERT_NE(welcome, nullptr);
  table_->Detach(client.link, "lost");
  Client again = Connect(Me("boot/2/2"));
  Hello hello = TuneHello();
  hello.resume = welcome->token;
  EXPECT_TRUE(Say(again, hello).ok());
  EXPECT_EQ(Wanted(again), Wanted(client));
  EXPECT_TRUE(Say(again, Told(Wanted(again).at(0))).ok());
  EXPECT_TRUE(Kept().has_value());
}

TEST_F(KernelsTest, APlanThatWasStoodDownIsNotSpokenOfAnyMore) {
  Client client = Served();
  const planner::VariantId wanted = Wanted(client).at(0);
  planner::Stand stand;
  stand.session = table_->Summaries().front().id;
  table_->Direct(stand.session, stand);
  EXPECT_TRUE(Say(client, Told(wanted)).ok());
  EXPECT_TRUE(WasRefused(client));
  EXPECT_EQ(Kept(), std::nullopt);
}

}  // namespace
}  // namespace blazed::session
