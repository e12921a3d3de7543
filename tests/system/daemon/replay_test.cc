// What the store keeps of a job is enough to decide it again: the same directives to the shim and
// the same rows, byte for byte.
#include "daemon/planner/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "daemon/rpc/convert.h"
#include "daemon/session/tuning_log.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using planner::Action;

SyntheticHost Host() {
  SyntheticHost host;
  host.saving = {0.05, -0.04, 0.02, -0.03};
  return host;
}

// So many boundaries that the daemon thinks about them off its control strand.
SyntheticHost LargeHost() {
  SyntheticHost host;
  host.saving.assign(40, -0.01);
  host.saving[3] = 0.06;
  return host;
}

// A message without what its stream gave it.
std::string Bytes(v1::DaemonMessage message) {
  message.clear_sequence();
  return message.SerializeAsString();
}

// Runs a job to its settlement and brings the directives that it got, in order.
std::vector<std::string> RunJob(const std::string& folder, uint64_t seed,
                                const SyntheticHost& host = Host()) {
  std::vector<std::string> heard;
  PrivateDaemon daemon(folder);
  EXPECT_TRUE(daemon.WaitReady()) << daemon.Log();
  ScriptedShim shim(daemon.socket(), host, seed);
  shim.before_answer = [&heard](const v1::DaemonMessage& message) {
    // Progress is thinned out on its way, and the others are no decisions.
    const bool directive = !message.has_progress() && !message.has_welcome() &&
                           !message.has_refused() && !message.has_want_kernels();
    if (directive) heard.push_back(Bytes(message));
    return true;
  };
  EXPECT_TRUE(shim.RunJob()) << daemon.Log();
  shim.Bye();
  EXPECT_FALSE(shim.PlayUntil([](const ScriptedResult&) { return false; }));
  EXPECT_EQ(daemon.Stop(), 0) << daemon.Log();
  return heard;
}

// The directives among the actions, as they go to a shim.
std::vector<std::string> DirectivesOf(const std::vector<Action>& actions) {
  std::vector<std::string> directives;
  for (const Action& action : actions) {
    std::visit(
        [&directives](const auto& a) {
          using A = std::decay_t<decltype(a)>;
          if constexpr (std::is_constructible_v<session::Outbound, A> &&
                        !std::is_same_v<A, planner::ReportProgress>) {
            directives.push_back(Bytes(rpc::ToProto(session::Outbound(a), 0)));
          }
        },
        action);
  }
  return directives;
}

template <typename Kept>
std::vector<Kept> RowsOf(const std::vector<Action>& actions) {
  std::vector<Kept> rows;
  for (const Action& action : actions) {
    if (const Kept* row = std::get_if<Kept>(&action)) rows.push_back(*row);
  }
  return rows;
}

class DaemonReplay : public testing::Test {
 protected:
  void OpenStore() {
    storage::SqliteOptions options;
    options.folder = folder_.path() + "/state";
    auto store = storage::SqliteStore::Open(options, nullptr);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    reader_ = store_->NewReader();
  }
  // Every action that the stored logs of the only tuning decide on, log by log.
  std::vector<planner::ReplayResult> ReplayAll() {
    std::vector<planner::ReplayResult> results;
    auto logs = session::ReadTuningLogs(*reader_, 1);
    EXPECT_TRUE(logs.ok()) << logs.status();
    for (const std::string& log : *logs) {
      results.push_back(planner::Replay(log));
      EXPECT_TRUE(results.back().complete) << results.back().error;
    }
    return results;
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::SqliteStore> store_;
  std::unique_ptr<storage::Reader> reader_;
};

TEST_F(DaemonReplay, AStoredLogDecidesAgainWhatTheShimHeard) {
  const std::vector<std::string> first = RunJob(folder_.path(), 1);
  const std::vector<std::string> second = RunJob(folder_.path(), 2);
  ASSERT_GT(first.size(), 10u);
  ASSERT_FALSE(second.empty());
  OpenStore();
  const std::vector<planner::ReplayResult> replayed = ReplayAll();
  ASSERT_EQ(replayed.size(), 2u) << "each daemon opened the tuning once";
  EXPECT_EQ(DirectivesOf(replayed[0].actions), first);
  EXPECT_EQ(DirectivesOf(replayed[1].actions), second) << "with what the first one left as memory";
}

TEST_F(DaemonReplay, AStoredLogOfALargeSearchHoldsWhatItsThoughtsCameTo) {
  const std::vector<std::string> heard = RunJob(folder_.path(), 4, LargeHost());
  OpenStore();
  const auto logs = session::ReadTuningLogs(*reader_, 1);
  ASSERT_TRUE(logs.ok()) << logs.status();
  ASSERT_EQ(logs->size(), 1u);
  EXPECT_NE(logs->front().find(" thought_done "), std::string::npos);
  EXPECT_EQ(DirectivesOf(ReplayAll()[0].actions), heard);
}

TEST_F(DaemonReplay, AStoredLogDecidesAgainWhatTheStoreHolds) {
  RunJob(folder_.path(), 3);
  OpenStore();
  const std::vector<planner::ReplayResult> replayed = ReplayAll();
  ASSERT_EQ(replayed.size(), 1u);
  const std::vector<Action>& actions = replayed[0].actions;

  const auto settles = RowsOf<planner::Settle>(actions);
  const auto settlements = reader_->Settlements({});
  ASSERT_TRUE(settlements.ok()) << settlements.status();
  ASSERT_EQ(settlements->size(), 1u);
  ASSERT_EQ(settles.size(), 1u);
  planner::SettlementRecord stored = settlements->front().record;
  stored.id = settles.front().record.id;  // given by the store
  EXPECT_EQ(stored, settles.front().record);

  storage::Page page;
  page.limit = 1000;
  const auto races = reader_->Races(page);
  ASSERT_TRUE(races.ok()) << races.status();
  const auto kept_races = RowsOf<planner::KeepRace>(actions);
  ASSERT_EQ(races->size(), kept_races.size());
  for (size_t i = 0; i < races->size(); ++i) {
    const storage::StoredRace& row = (*races)[races->size() - 1 - i];  // newest first
    planner::RaceRecord record = row.record;
    record.pairs = reader_->LoadPairs(row.id).value();
    EXPECT_EQ(record, kept_races[i].record) << "race " << record.id;
  }

  std::map<planner::Plan, planner::PlanRecord> last;
  for (const auto& kept : RowsOf<planner::KeepPlan>(actions)) {
    last[kept.record.plan] = kept.record;
  }
  const auto plans = reader_->Plans(page);
  ASSERT_TRUE(plans.ok()) << plans.status();
  EXPECT_EQ(plans->size(), last.size());
  for (const storage::StoredPlan& plan : *plans) EXPECT_EQ(plan.record, last[plan.record.plan]);
}

}  // namespace
}  // namespace blazed::fakes
