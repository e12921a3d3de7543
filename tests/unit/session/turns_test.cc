// Who explores a device when, and what those in line are told. Time is the test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/planner/codec.h"
#include "tests/unit/session/session_table_fixture.h"

namespace blazed::session {
namespace {

class TurnsTest : public SessionTableTest {
 protected:
  Peer User(uint32_t uid, int process) {
    Peer peer = Me(absl::StrCat("boot/", process, "/", process));
    peer.uid = uid;
    peer.principal = absl::StrCat("uid:", uid);
    return peer;
  }

  // Whether it was asked for anything that takes a turn.
  static bool HadATurn(const Client& client) {
    return client.link->Count<planner::RunPairs>() + client.link->Count<planner::BuildVariant>() >
           0;
  }
  // Units in the store's log that carry this flag.
  size_t FlaggedUnits(uint32_t flag) {
    EXPECT_GT(Events("lease_done"), 0u);
    storage::EventPage page;
    page.limit = 1000;
    const auto rows = writer_->NewReader()->Events(page);
    size_t flagged = 0;
    for (const auto& row : *rows) {
      std::string error;
      const auto event = planner::DecodeEvent(row.payload, &error);
      if (!event) continue;
      const auto* done = std::get_if<planner::LeaseDone>(&event->body);
      if (done == nullptr) continue;
      for (const planner::UnitTime& unit : done->units) flagged += (unit.flags & flag) != 0;
    }
    return flagged;
  }
  // Plans of the first tuning that were given up because its job was silent.
  size_t PlansGivenUp() {
    EXPECT_GT(Events("opening"), 0u);
    storage::EventPage page;
    page.limit = 1000;
    storage::TuningId first = 0;
    size_t given_up = 0;
    for (;;) {
      const auto rows = writer_->NewReader()->Events(page);
      for (const auto& row : *rows) {
        page.after = row.id;
        if (first == 0) first = row.tuning;
        given_up += row.tuning == first && row.kind == "plan_ruled_out" &&
                    absl::StrContains(row.payload, "the host did not answer");
      }
      if (rows->size() < page.limit) return given_up;
    }
  }
  static planner::Phase PhaseOf(const Client& client) {
    const auto* progress = client.link->Last<planner::ReportProgress>();
    return progress == nullptr ? planner::Phase::kStanding : progress->phase;
  }
};

TEST_F(TurnsTest, ASessionInLineIsCalledWaitingUntilItHasItsTurn) {
  Client first = Described(User(1000, 1), 1);
  ASSERT_TRUE(HadATurn(first));
  Client second = Described(User(1000, 2), 2);
  EXPECT_FALSE(HadATurn(second));
  EXPECT_EQ(PhaseOf(second), planner::Phase::kWaiting);
  loop_.Advance(absl::Seconds(1));
  EXPECT_EQ(PhaseOf(second), planner::Phase::kWaiting) << "nothing else overtakes it";
  EXPECT_TRUE(Say(first, Bye{}).ok());
  EXPECT_TRUE(HadATurn(second));
  EXPECT_NE(PhaseOf(second), planner::Phase::kWaiting);
}

TEST_F(TurnsTest, ManyThatNeverAnswerKeepNobodyElseWaitingLongerThanOne) {
  std::vector<Client> silent;
  for (uint8_t i = 1; i <= 30; ++i) silent.push_back(Described(User(1000, i), i));
  Client honest = Described(User(1001, 100), 100);
  ASSERT_TRUE(HadATurn(silent.front()));
  ASSERT_FALSE(HadATurn(honest));
  for (int i = 0; i < 600 && !HadATurn(silent[1]) && !HadATurn(honest); ++i) {
    loop_.Advance(absl::Seconds(1));
  }
  EXPECT_TRUE(HadATurn(honest)) << "the first turn that ends is his";
  EXPECT_FALSE(HadATurn(silent[1]));
}

TEST_F(TurnsTest, OneThatIsAloneAndSilentIsNotToldOfAnother) {
  Client silent = Described(User(1000, 1), 1);
  for (int i = 0; i < 600 && PhaseOf(silent) != planner::Phase::kWaiting; ++i) {
    loop_.Advance(absl::Seconds(1));
  }
  ASSERT_EQ(PhaseOf(silent), planner::Phase::kWaiting);
  EXPECT_EQ(silent.link->Last<planner::ReportProgress>()->note,
            "two leases in a row had no answer; waiting for a sign of the job");
}

// Both are jobs of one workload: while the first one searches the second has nothing to say.
TEST_F(TurnsTest, WhoSearchesOnForOneThatWasSilentHasATurn) {
  Client silent = Described(User(1000, 1), 1);
  Client next = Described(User(1000, 2), 1);
  for (int i = 0; i < 600 && PhaseOf(silent) != planner::Phase::kWaiting; ++i) {
    loop_.Advance(absl::Seconds(1));
  }
  ASSERT_EQ(PhaseOf(silent), planner::Phase::kWaiting);
  ASSERT_FALSE(HadATurn(next));
  table_->Detach(silent.link, "lost");
  loop_.Advance(options_.resume_grace + absl::Seconds(1));
  EXPECT_TRUE(HadATurn(next));
}

TEST_F(TurnsTest, AJobThatComesIsASignOfLife) {
  Client silent = Described(User(1000, 1), 1);
  for (int i = 0; i < 600 && PhaseOf(silent) != planner::Phase::kWaiting; ++i) {
    loop_.Advance(absl::Seconds(1));
  }
  ASSERT_EQ(PhaseOf(silent), planner::Phase::kWaiting);
  Client next = Described(User(1000, 2), 1);
  for (int i = 0; i < 600 && !HadATurn(next); ++i) loop_.Advance(absl::Seconds(1));
  EXPECT_TRUE(HadATurn(next)) << "the silent one is asked once more and then left alone";
}

TEST_F(TurnsTest, ABuildThatIsNeverAnsweredEndsItsTurnToo) {
  Client silent = Described(User(1000, 1), 1);
  // Leases are answered, the first build is not.
  Answer(silent, planner::BuildStatus::kOk, [](const Outbound& asked) {
    return std::holds_alternative<planner::BuildVariant>(asked);
  });
  ASSERT_GT(silent.link->Count<planner::BuildVariant>(), 0u);
  Client honest = Described(User(1001, 2), 2);
  ASSERT_FALSE(HadATurn(honest));
  loop_.Advance(options_.device_turn + absl::Seconds(2));
  EXPECT_TRUE(HadATurn(honest));
}

// Its turn ends with the noise, and the other one's lasts longer than a host may take for a build.
TEST_F(TurnsTest, ABuildIsWaitedForFromWhenItWentOut) {
  options_.device_turn = absl::Seconds(1);
  table_->Reload(options_);
  Client waits = Described(User(1000, 1), 1);
  Client other = Described(User(1001, 2), 2);
  Answer(waits, planner::BuildStatus::kOk, [&](const Outbound& asked) {
    return std::holds_alternative<planner::RunPairs>(asked) &&
           waits.link->Count<planner::RunPairs>() == 2;
  });
  loop_.Advance(absl::Seconds(2));
  options_.device_turn = absl::Hours(1);
  Answer(waits, planner::BuildStatus::kOk);
  table_->Reload(options_);
  ASSERT_TRUE(HadATurn(other));
  Answer(other, planner::BuildStatus::kOk, [](const Outbound& asked) {
    return std::holds_alternative<planner::BuildVariant>(asked);
  });
  loop_.Advance(absl::Minutes(11));
  ASSERT_EQ(waits.link->Count<planner::BuildVariant>(), 0u);
  EXPECT_EQ(PlansGivenUp(), 0u) << "it was never asked";

  EXPECT_TRUE(Say(other, Bye{}).ok());
  ASSERT_GT(waits.link->Count<planner::BuildVariant>(), 0u);
  loop_.Advance(absl::Minutes(9));
  EXPECT_EQ(PlansGivenUp(), 0u);
  loop_.Advance(absl::Minutes(2));
  EXPECT_GT(PlansGivenUp(), 0u);
}

TEST_F(TurnsTest, AJobThatHasSpentItsBudgetGivesTheDeviceUp) {
  options_.tuning.budget_allowance = planner::Nanos(0);
  table_->Reload(options_);
  Client spent = Described(User(1000, 1), 1);
  Client next = Described(User(1000, 2), 2);
  ASSERT_TRUE(HadATurn(spent)) << "what costs nothing fits";
  ASSERT_FALSE(HadATurn(next));
  Answer(spent, planner::BuildStatus::kOk);
  EXPECT_EQ(spent.link->Count<planner::BuildVariant>(), 0u);
  EXPECT_EQ(PhaseOf(spent), planner::Phase::kWaiting);
  EXPECT_THAT(spent.link->Last<planner::ReportProgress>()->note,
              testing::HasSubstr("it goes on in about"));
  EXPECT_TRUE(HadATurn(next));
}

// Its build is dear and the job is young, so there is nothing to explore before it has run longer.
TEST_F(TurnsTest, ASearchThatWaitsForABuildToPayGivesTheDeviceUpUntilOneDoes) {
  Client waits = Open(User(1000, 1));
  EXPECT_TRUE(Say(waits, Graph()).ok());
  WorkloadSeen dear = Workload(1, 2);
  dear.default_build_ns = 1'000'000'000;  // a thousand steps
  EXPECT_TRUE(Say(waits, dear).ok());
  Client next = Described(User(1000, 2), 2);
  ASSERT_FALSE(HadATurn(next)) << "the noise of the first is measured";
  const auto note = [&] { return waits.link->Last<planner::ReportProgress>()->note; };
  Answer(waits, planner::BuildStatus::kOk);
  ASSERT_EQ(waits.link->Count<planner::BuildVariant>(), 0u);
  EXPECT_EQ(PhaseOf(waits), planner::Phase::kWaiting);
  EXPECT_THAT(note(), testing::HasSubstr("waits until a build pays, in about"));
  EXPECT_TRUE(HadATurn(next)) << "at once";

  // The other one keeps the device while the build begins to pay, and is not held up by it.
  Answer(next, planner::BuildStatus::kOk, [](const Outbound& asked) {
    return std::holds_alternative<planner::BuildVariant>(asked);
  });
  EXPECT_GT(next.link->Count<planner::BuildVariant>(), 0u);
  const std::string in_line = "another workload explores this device; waiting for a turn";
  for (int i = 0; i < 100 && note() != in_line; ++i) loop_.Advance(absl::Seconds(1));
  EXPECT_EQ(note(), in_line);
  EXPECT_EQ(waits.link->Count<planner::BuildVariant>(), 0u);
  EXPECT_TRUE(Say(next, Bye{}).ok());
  EXPECT_EQ(waits.link->Count<planner::BuildVariant>(), 1u);
  EXPECT_EQ(PhaseOf(waits), planner::Phase::kSearch);
}

// The events are those between a lease's sending and its answer, and they are in its log.
TEST_F(TurnsTest, ALeaseCarriesWhatHappenedOnItsDeviceMeanwhile) {
  std::vector<std::string> watched;
  uint32_t happened = 0;
  table_->SetWatch([&](const std::string& device, int32_t pid) -> std::function<uint32_t()> {
    watched.push_back(absl::StrCat(device, " ", pid));
    return [&happened] { return happened; };
  });
  Client job = Described(User(1000, 1), 1);
  ASSERT_THAT(watched, testing::ElementsAre("cpu 1"));
  happened = planner::kUnitNeighbour;
  Answer(job, planner::BuildStatus::kFailed);
  ASSERT_GT(watched.size(), 1u);
  EXPECT_GT(FlaggedUnits(planner::kUnitNeighbour), 0u);
}

TEST_F(TurnsTest, ADeviceOfWhichNothingIsKnownHasNoEvents) {
  table_->SetWatch([](const std::string&, int32_t) { return nullptr; });
  Client job = Described(User(1000, 1), 1);
  Answer(job, planner::BuildStatus::kFailed);
  EXPECT_EQ(FlaggedUnits(planner::kUnitNeighbour), 0u);
  EXPECT_GT(Events("lease_done"), 0u);
}

}  // namespace
}  // namespace blazed::session
