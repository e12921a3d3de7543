// A daemon with small limits: what is too much is refused by name, and the daemon serves on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "blazed/v1/history.grpc.pb.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

class DaemonLimits : public testing::Test {
 protected:
  std::unique_ptr<PrivateDaemon> Start(const std::string& config) {
    const std::string path = folder_.path() + "/blazed.toml";
    std::ofstream(path) << config;
    auto daemon =
        std::make_unique<PrivateDaemon>(folder_.path(), std::vector<std::string>{"--config", path});
    EXPECT_TRUE(daemon->WaitReady()) << daemon->Log();
    return daemon;
  }
  static SyntheticHost Host(const std::string& name, size_t decisions) {
    SyntheticHost host;
    host.name = name;
    host.saving.assign(decisions, 0.0);
    return host;
  }
  TemporaryFolder folder_;
};

TEST_F(DaemonLimits, AStoreAtItsSizeTakesNoMoreAndAnswersOn) {
  auto daemon = Start("[limits]\nstore_mib = 1\n");
  grpc::Status refused;
  for (int i = 0; i < 200 && refused.ok(); ++i) {
    ScriptedShim shim(daemon->socket(), Host(absl::StrCat("filler-", i), 500), 1);
    shim.hello().set_mode(v1::MODE_OBSERVE);
    refused = shim.Attach();
    if (!refused.ok()) break;
    ASSERT_TRUE(shim.Describe());
    shim.Bye();
    refused = shim.Finish();
  }
  EXPECT_EQ(refused.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error_message(), HasSubstr("the store took no"));
  grpc::ClientContext context;
  Prepare(&context);
  v1::GetStatusReply reply;
  const grpc::Status status =
      v1::History::NewStub(DialDaemon(daemon->socket()))->GetStatus(&context, {}, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_LE(std::filesystem::file_size(folder_.path() + "/state/blazed.db"), 1u << 20);
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
}

TEST_F(DaemonLimits, AWorkloadTooManyIsRefusedAndItsJobTrainsOn) {
  auto daemon = Start("[limits]\nworkloads_per_user = 1\n");
  ScriptedShim first(daemon->socket(), Host("first", 2), 1);
  ASSERT_TRUE(first.RunJob()) << first.Finish().error_message();
  ScriptedShim second(daemon->socket(), Host("second", 2), 1);
  ASSERT_TRUE(second.Attach().ok());
  ASSERT_TRUE(second.Describe());
  const auto refused = second.Read();
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(refused->refused().detail(), HasSubstr("limits.workloads_per_user"));
  second.Bye();
  EXPECT_TRUE(second.Finish().ok());
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
}

TEST_F(DaemonLimits, AFloodOfHellosIsRefused) {
  auto daemon = Start("[limits]\nattaches_per_minute = 3\n");
  StatusCode code = StatusCode::OK;
  for (int i = 0; i < 4; ++i) {
    ScriptedShim shim(daemon->socket(), Host("flood", 2), 1);
    code = shim.Attach().error_code();
    EXPECT_EQ(code, i < 3 ? StatusCode::OK : StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
}

}  // namespace
}  // namespace blazed::fakes
