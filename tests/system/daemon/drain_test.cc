// Admin.Drain over the operators' socket: nothing more is begun, what is under way may end, and the
// daemon goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include "blazed/v1/admin.grpc.pb.h"
#include "tests/fakes/health_client.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kLongerThanTheTest = std::chrono::minutes(10);
constexpr nanoseconds kNoPatience{1};

class DaemonDrain : public testing::Test {
 protected:
  void SetUp() override {
    const std::string config = folder_.path() + "/blazed.toml";
    std::ofstream(config) << "[daemon]\nadmin_socket = \"" << admin_socket() << "\"\n";
    daemon_.emplace(folder_.path(), std::vector<std::string>{"--config", config});
    ASSERT_TRUE(daemon_->WaitReady()) << daemon_->Log();
    shim_.emplace(daemon_->socket(), Host(), 1);
  }

  std::string admin_socket() const { return folder_.path() + "/admin.sock"; }

  static SyntheticHost Host() {
    SyntheticHost host;
    host.saving = {0.05, -0.04};
    return host;
  }

  static grpc::Status Drain(const std::string& socket, nanoseconds deadline,
                            v1::DrainReply* reply) {
    grpc::ClientContext context;
    Prepare(&context);
    v1::DrainRequest request;
    request.set_deadline_ns(static_cast<uint64_t>(deadline.count()));
    return v1::Admin::NewStub(DialDaemon(socket))->Drain(&context, request, reply);
  }

  // A job with a lease that it was given and does not answer.
  void HoldALease() {
    shim_->before_answer = [this](const v1::DaemonMessage& message) {
      if (!message.has_run_pairs()) return true;
      if (held_) return false;
      held_ = message.run_pairs();
      return false;
    };
    ASSERT_TRUE(shim_->Attach().ok());
    ASSERT_TRUE(shim_->Describe());
    ASSERT_TRUE(shim_->PlayUntil([this](const ScriptedResult&) { return held_.has_value(); }));
  }

  void AnswerTheLease() {
    v1::ShimMessage answer;
    answer.mutable_steps_done()->set_lease_id(held_->lease_id());
    answer.mutable_steps_done()->set_complete(1);
    for (uint32_t i = 0; i < 2 * held_->pairs(); ++i) {
      answer.mutable_steps_done()->add_units()->set_host_ns(1'000'000);
    }
    shim_->Send(answer);
  }

  void ExpectGone() {
    const grpc::Status status = shim_->AwaitEnd();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(status.error_message(), "the daemon is stopping; attach again");
    EXPECT_EQ(daemon_->Join(), 0) << daemon_->Log();
    EXPECT_TRUE(daemon_->WaitLogged({"msg=stopped"}));
  }

  TemporaryFolder folder_;
  std::optional<PrivateDaemon> daemon_;
  std::optional<ScriptedShim> shim_;
  std::optional<v1::RunPairs> held_;
};

TEST_F(DaemonDrain, AnswersAtOnceAndLetsTheLeaseEnd) {
  ASSERT_NO_FATAL_FAILURE(HoldALease());
  HealthWatch health(DialDaemon(daemon_->socket()), "");
  ASSERT_EQ(health.Next(), Health::kServing);
  v1::DrainReply reply;
  const grpc::Status drained = Drain(admin_socket(), kLongerThanTheTest, &reply);
  ASSERT_TRUE(drained.ok()) << drained.error_message();
  EXPECT_EQ(reply.sessions(), 1u);
  EXPECT_EQ(health.Next(), Health::kNotServing);
  // The lease is out and there is time for it, so the daemon is there and nobody else gets in.
  ScriptedShim late(daemon_->socket(), Host(), 2);
  late.wait_for_daemon = false;
  EXPECT_EQ(late.Attach().error_code(), grpc::StatusCode::UNAVAILABLE);
  AnswerTheLease();
  ExpectGone();
}

TEST_F(DaemonDrain, ALeaseThatNobodyAnswersEndsAtTheDeadline) {
  ASSERT_NO_FATAL_FAILURE(HoldALease());
  v1::DrainReply reply;
  ASSERT_TRUE(Drain(admin_socket(), kNoPatience, &reply).ok());
  ExpectGone();
}

TEST_F(DaemonDrain, NothingUnderWayEndsAtOnce) {
  v1::DrainReply reply;
  ASSERT_TRUE(Drain(admin_socket(), kLongerThanTheTest, &reply).ok());
  EXPECT_EQ(reply.sessions(), 0u);
  EXPECT_EQ(daemon_->Join(), 0) << daemon_->Log();
}

TEST_F(DaemonDrain, TheJobGoesOnWithTheNextDaemon) {
  ASSERT_NO_FATAL_FAILURE(HoldALease());
  v1::DrainReply reply;
  ASSERT_TRUE(Drain(admin_socket(), kNoPatience, &reply).ok());
  ExpectGone();
  daemon_.emplace(folder_.path());
  ASSERT_TRUE(daemon_->WaitReady()) << daemon_->Log();
  shim_->before_answer = nullptr;
  EXPECT_TRUE(shim_->RunJob()) << shim_->Finish().error_message() << daemon_->Log();
}

TEST_F(DaemonDrain, IsNotAmongTheShimsCalls) {
  v1::DrainReply reply;
  EXPECT_EQ(Drain(daemon_->socket(), kNoPatience, &reply).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(shim_->Attach().ok()) << "and nothing happened";
}

}  // namespace
}  // namespace blazed::fakes
