// Whole jobs over the real daemon: a search to its settlement, a second process served from the
// store, restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using testing::HasSubstr;
using testing::Not;

SyntheticHost HostWithAWinner() {
  SyntheticHost host;
  host.saving = {0.05, -0.04, 0.02, -0.03};
  return host;
}

bool IsSettled(const ScriptedResult& result) { return result.settled.has_value(); }

// The first field after `key=` of a program's line.
std::string FieldOf(const std::string& line, const std::string& key) {
  const size_t at = line.find(key + "=");
  if (at == std::string::npos) return "";
  const size_t start = at + key.size() + 1;
  return line.substr(start, line.find_first_of(" \n", start) - start);
}

class DaemonJob : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(DaemonJob, ASearchEndsInASettlementOfTheBestPlan) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), HostWithAWinner(), 1);
  ASSERT_TRUE(shim.RunJob()) << shim.Finish().error_message() << daemon.Log();
  EXPECT_EQ(shim.result().settled->settlement(), v1::SETTLEMENT_KIND_IN_JOB);
  EXPECT_EQ(FromProto(shim.result().settled->plan()), (ProtoPlan{{0, 1}, {2, 1}}));
  EXPECT_GT(shim.result().settled->settlement_id(), 0u);
  std::string json;
  ASSERT_TRUE(shim.GetReport(&json).ok());
  EXPECT_THAT(json, HasSubstr("\"outcome\":\"settled\""));
  shim.Bye();
  EXPECT_TRUE(shim.Finish().ok());
  EXPECT_EQ(daemon.Stop(), 0) << daemon.Log();
}

TEST_F(DaemonJob, AReportAmidTheSearchTellsWhatWasSpentSoFar) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), HostWithAWinner(), 1);
  ASSERT_TRUE(shim.Attach().ok());
  ASSERT_TRUE(shim.Describe());
  ASSERT_TRUE(shim.PlayUntil([](const ScriptedResult& result) {
    return result.progress && result.progress->search_pairs() > 0 && result.progress->builds() > 0;
  })) << daemon.Log();
  ASSERT_FALSE(shim.result().settled.has_value());
  std::string json;
  ASSERT_TRUE(shim.GetReport(&json).ok());
  EXPECT_THAT(json, HasSubstr("\"outcome\":\"undecided\""));
  EXPECT_THAT(json, HasSubstr("the search had not ended"));
  EXPECT_THAT(json, Not(HasSubstr("\"search_pairs\":0,")));
  EXPECT_THAT(json, Not(HasSubstr("\"builds\":0,")));
  EXPECT_THAT(json, Not(HasSubstr("\"window_s\":0.0,")));
}

TEST_F(DaemonJob, AReportMayBeLargerThanAMessageThatIsRead) {
  constexpr size_t kSmallestLimit = 65536;
  const std::string config = folder_.path() + "/blazed.toml";
  std::ofstream(config) << "[limits]\nmessage_bytes = " << kSmallestLimit << "\n";
  PrivateDaemon daemon(folder_.path(), {"--config", config});
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  SyntheticHost host;
  for (int i = 0; i < 96; ++i) host.saving.push_back(i % 3 == 0 ? 0.01 : -0.01);
  ScriptedShim shim(daemon.socket(), host, 5);
  ASSERT_TRUE(shim.RunJob()) << shim.Finish().error_message() << daemon.Log();
  std::string json;
  const grpc::Status status = shim.GetReport(&json);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_GT(json.size(), kSmallestLimit);
}

// Thoughts are under way at any moment of such a search.
TEST_F(DaemonJob, ADaemonStopsAmidALargeSearchAndTheNextOneEndsIt) {
  SyntheticHost host;
  host.saving.assign(40, -0.01);
  host.saving[3] = 0.06;
  ScriptedShim shim(folder_.path() + "/blazed.sock", host, 6);
  for (const uint64_t builds : {45, 60, 75}) {
    PrivateDaemon daemon(folder_.path());
    ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
    ASSERT_TRUE(shim.Attach().ok());
    ASSERT_TRUE(shim.Describe());
    ASSERT_TRUE(shim.PlayUntil([builds](const ScriptedResult& result) {
      return result.builds >= builds || IsSettled(result);
    })) << daemon.Log();
    EXPECT_EQ(daemon.Stop(), 0) << daemon.Log();
    shim.Drop();
  }
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ASSERT_TRUE(IsSettled(shim.result()) || shim.RunJob()) << daemon.Log();
  const ProtoPlan plan = FromProto(shim.result().settled->plan());
  EXPECT_NE(std::find(plan.begin(), plan.end(), std::make_pair(3u, 1u)), plan.end());
}

TEST_F(DaemonJob, AHostWithoutABetterPlanGetsNoWinner) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  SyntheticHost host;
  host.saving = {-0.05, -0.04, -0.06};
  ScriptedShim shim(daemon.socket(), host, 2);
  ASSERT_TRUE(shim.RunJob()) << shim.Finish().error_message() << daemon.Log();
  EXPECT_EQ(shim.result().settled->settlement(), v1::SETTLEMENT_KIND_NO_WINNER);
  EXPECT_EQ(shim.result().settled->plan().choices_size(), 0);
}

TEST_F(DaemonJob, ASecondProcessIsServedWithoutASearch) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  const Ended first = RunProgram({BLAZED_SCRIPTED_SHIM, daemon.socket(), "job"});
  ASSERT_EQ(first.exit_code, 0) << first.output << daemon.Log();
  const Ended second = RunProgram({BLAZED_SCRIPTED_SHIM, daemon.socket(), "job"});
  ASSERT_EQ(second.exit_code, 0) << second.output << daemon.Log();
  EXPECT_EQ(FieldOf(second.output, "plan"), FieldOf(first.output, "plan"));
  EXPECT_EQ(FieldOf(second.output, "pairs"), "0");
  EXPECT_EQ(FieldOf(second.output, "reason"), std::to_string(v1::ADOPT_REASON_STORED_MATCH));
}

TEST_F(DaemonJob, AnAnnouncedSettlementOutlivesAKilledDaemon) {
  std::string plan;
  {
    PrivateDaemon daemon(folder_.path());
    ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
    const Ended first = RunProgram({BLAZED_SCRIPTED_SHIM, daemon.socket(), "job"});
    ASSERT_EQ(first.exit_code, 0) << first.output << daemon.Log();
    plan = FieldOf(first.output, "plan");
    daemon.Kill();
  }
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  const Ended second = RunProgram({BLAZED_SCRIPTED_SHIM, daemon.socket(), "job"});
  ASSERT_EQ(second.exit_code, 0) << second.output << daemon.Log();
  EXPECT_EQ(FieldOf(second.output, "plan"), plan);
  EXPECT_EQ(FieldOf(second.output, "pairs"), "0");
}

TEST_F(DaemonJob, ALostStreamIsResumedWhereItWas) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), HostWithAWinner(), 3);
  ASSERT_TRUE(shim.Attach().ok());
  ASSERT_TRUE(shim.Describe());
  // The connection goes while a lease is unanswered: the daemon asks for it again.
  uint64_t kept_back = 0;
  shim.before_answer = [&](const v1::DaemonMessage& message) {
    if (!message.has_run_pairs() || kept_back != 0) return true;
    kept_back = message.run_pairs().lease_id();
    return false;
  };
  ASSERT_TRUE(shim.PlayUntil([&](const ScriptedResult&) { return kept_back != 0; }));
  const std::string session = shim.result().welcome_session;
  shim.Drop();
  ASSERT_TRUE(shim.Attach().ok());
  EXPECT_EQ(shim.result().welcome_session, session);
  uint64_t asked_again = 0;
  shim.before_answer = [&](const v1::DaemonMessage& message) {
    if (message.has_run_pairs() && asked_again == 0) asked_again = message.run_pairs().lease_id();
    return true;
  };
  ASSERT_TRUE(shim.PlayUntil(IsSettled)) << shim.Finish().error_message() << daemon.Log();
  EXPECT_EQ(asked_again, kept_back);
}

TEST_F(DaemonJob, AJobGoesOnWithTheNextDaemon) {
  ScriptedShim shim(folder_.path() + "/blazed.sock", HostWithAWinner(), 4);
  uint64_t epoch = 0;
  {
    PrivateDaemon daemon(folder_.path());
    ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
    ASSERT_TRUE(shim.Attach().ok());
    ASSERT_TRUE(shim.Describe());
    ASSERT_TRUE(shim.PlayUntil([](const ScriptedResult& result) { return result.leases > 2; }));
    epoch = shim.result().epoch;
    daemon.Kill();
  }
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  const std::string session = shim.result().welcome_session;
  shim.Drop();
  ASSERT_TRUE(shim.Attach().ok());
  EXPECT_NE(shim.result().welcome_session, session);
  EXPECT_GT(shim.result().epoch, epoch);
  ASSERT_TRUE(shim.Describe());
  EXPECT_TRUE(shim.PlayUntil(IsSettled)) << shim.Finish().error_message() << daemon.Log();
}

}  // namespace
}  // namespace blazed::fakes
