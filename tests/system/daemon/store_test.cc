// The daemon while its store cannot be written, and what it says of a store that was damaged. A
// limit on file sizes stands for a disk that takes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "blazed/v1/history.grpc.pb.h"
#include "blazed/v1/tuner.grpc.pb.h"
#include "tests/fakes/health_client.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using testing::HasSubstr;

class DaemonStore : public testing::Test {
 protected:
  static SyntheticHost Host() {
    SyntheticHost host;
    host.saving = {0.05, -0.04};
    return host;
  }
  static void LimitFiles(const PrivateDaemon& daemon, rlim_t bytes) {
    rlimit limit{};
    ASSERT_EQ(prlimit(daemon.pid(), RLIMIT_FSIZE, nullptr, &limit), 0);
    limit.rlim_cur = std::min(bytes, limit.rlim_max);
    ASSERT_EQ(prlimit(daemon.pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  }
  static void TakeNoWrites(const PrivateDaemon& daemon) { LimitFiles(daemon, 0); }
  static void TakeWrites(const PrivateDaemon& daemon) { LimitFiles(daemon, RLIM_INFINITY); }

  static v1::GetStatusReply StatusOf(const PrivateDaemon& daemon) {
    grpc::ClientContext context;
    Prepare(&context);
    v1::GetStatusReply reply;
    const grpc::Status status =
        v1::History::NewStub(DialDaemon(daemon.socket()))->GetStatus(&context, {}, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  static std::string ReportOf(const PrivateDaemon& daemon, uint64_t session) {
    grpc::ClientContext context;
    Prepare(&context);
    v1::GetReportRequest request;
    for (int shift = 56; shift >= 0; shift -= 8) {
      request.mutable_session()->push_back(static_cast<char>(session >> shift));
    }
    v1::GetReportReply reply;
    const grpc::Status status =
        v1::Tuner::NewStub(DialDaemon(daemon.socket()))->GetReport(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply.json();
  }
  static int Settlements(const PrivateDaemon& daemon) {
    grpc::ClientContext context;
    Prepare(&context);
    v1::ListSettlementsReply reply;
    EXPECT_TRUE(v1::History::NewStub(DialDaemon(daemon.socket()))
                    ->ListSettlements(&context, {}, &reply)
                    .ok());
    return reply.rows_size();
  }
  TemporaryFolder folder_;
};

TEST_F(DaemonStore, AnOutageIsNamedAndEndsByItself) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  HealthWatch store(DialDaemon(daemon.socket()), "store");
  ASSERT_EQ(store.Next(), Health::kServing);
  EXPECT_EQ(StatusOf(daemon).store_state(), "ok");

  TakeNoWrites(daemon);
  ScriptedShim refused(daemon.socket(), Host(), 1);
  const grpc::Status attached = refused.Attach();
  EXPECT_EQ(attached.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(attached.error_message(), HasSubstr("train on and attach later"));
  EXPECT_EQ(store.Next(), Health::kNotServing);
  const v1::GetStatusReply status = StatusOf(daemon);
  EXPECT_EQ(status.store_state(), "read_only");
  EXPECT_THAT(status.store_detail(), HasSubstr("the store cannot be written since 20"));
  EXPECT_THAT(status.store_detail(), HasSubstr(folder_.path() + "/state"));
  EXPECT_GT(status.store_read_only_since_unix_ns(), 0);

  TakeWrites(daemon);
  EXPECT_EQ(store.Next(), Health::kServing);
  EXPECT_EQ(StatusOf(daemon).store_state(), "ok");
  ScriptedShim taken(daemon.socket(), Host(), 1);
  EXPECT_TRUE(taken.RunJob()) << daemon.Log();
}

TEST_F(DaemonStore, ASettlementThatCannotBeWrittenIsNotAnnounced) {
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  HealthWatch store(DialDaemon(daemon.socket()), "store");
  ASSERT_EQ(store.Next(), Health::kServing);
  {
    ScriptedShim shim(daemon.socket(), Host(), 1);
    ASSERT_TRUE(shim.Attach().ok());
    ASSERT_TRUE(shim.Describe());
    ASSERT_TRUE(shim.PlayUntil([](const ScriptedResult& result) { return result.leases > 0; }));
    TakeNoWrites(daemon);
    ASSERT_TRUE(shim.PlayUntil([](const ScriptedResult& result) {
      return result.stand.has_value() || result.settled.has_value();
    })) << daemon.Log();
    EXPECT_FALSE(shim.result().settled.has_value());
    EXPECT_EQ(shim.result().stand->reason(), v1::STAND_REASON_STORE_FAILED);
    EXPECT_THAT(ReportOf(daemon, StatusOf(daemon).sessions(0).session()),
                HasSubstr("\"reason\":\"the settlement could not be kept: "));
    EXPECT_THAT(StatusOf(daemon).sessions(0).note(),
                HasSubstr("the settlement could not be kept: "));
    EXPECT_GT(StatusOf(daemon).rows_waiting(), 0u);
    EXPECT_EQ(Settlements(daemon), 0);
    TakeWrites(daemon);
    EXPECT_EQ(store.Next(), Health::kNotServing);
    EXPECT_EQ(store.Next(), Health::kServing);
    shim.Bye();
    EXPECT_TRUE(shim.Finish().ok());
  }
  EXPECT_EQ(StatusOf(daemon).rows_dropped(), 0u);
  const Ended next = RunProgram({BLAZED_SCRIPTED_SHIM, daemon.socket(), "job"});
  EXPECT_EQ(next.exit_code, 0) << next.output << daemon.Log();
  EXPECT_EQ(Settlements(daemon), 1);
}

TEST_F(DaemonStore, AStatusTellsWhatThisStartFound) {
  {
    PrivateDaemon daemon(folder_.path());
    ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
    EXPECT_EQ(StatusOf(daemon).store_opening().state(), "ok");
    EXPECT_EQ(StatusOf(daemon).store_opening().detail(), "");
    ASSERT_EQ(daemon.Stop(), 0);
  }
  {
    std::fstream database(folder_.path() + "/state/blazed.db",
                          std::ios::in | std::ios::out | std::ios::binary);
    database.seekp(0);
    database << "no database at all";
  }
  PrivateDaemon daemon(folder_.path());
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  const v1::StoreOpening opening = StatusOf(daemon).store_opening();
  EXPECT_EQ(opening.state(), "fresh");
  EXPECT_THAT(opening.detail(), HasSubstr("the store begins empty"));
  EXPECT_TRUE(std::filesystem::is_directory(opening.quarantine())) << opening.quarantine();
  EXPECT_EQ(StatusOf(daemon).store_state(), "ok");
}

}  // namespace
}  // namespace blazed::fakes
