// What a client may do wrong, over the real daemon: one sentence and the right code each, and the
// daemon serves on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

class DaemonMisuse : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    daemon_ = new PrivateDaemon(folder_->path(), {"--config", WriteConfig()});
    ASSERT_TRUE(daemon_->WaitReady()) << daemon_->Log();
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(daemon_->Stop(), 0) << daemon_->Log();
    delete daemon_;
    delete folder_;
  }

  static std::string WriteConfig() {
    const std::string path = folder_->path() + "/blazed.toml";
    FILE* file = fopen(path.c_str(), "w");
    fputs("[limits]\noutgoing_messages = 16\nidle_connection_s = 2\n", file);
    fclose(file);
    return path;
  }

  // The daemon is unharmed: a fresh client is welcomed.
  void TearDown() override {
    ScriptedShim shim(daemon_->socket(), Host(), 1);
    EXPECT_TRUE(shim.Attach().ok()) << daemon_->Log();
    shim.Bye();
    EXPECT_TRUE(shim.Finish().ok());
  }

  static SyntheticHost Host() {
    SyntheticHost host;
    host.saving = {0.05, -0.04};
    return host;
  }

  ScriptedShim shim_{daemon_->socket(), Host(), 7};
  static TemporaryFolder* folder_;
  static PrivateDaemon* daemon_;
};

TemporaryFolder* DaemonMisuse::folder_ = nullptr;
PrivateDaemon* DaemonMisuse::daemon_ = nullptr;

TEST_F(DaemonMisuse, ACallWithoutTheProtocolsMetadataIsInvalid) {
  auto stub = v1::Tuner::NewStub(DialDaemon(daemon_->socket()));
  grpc::ClientContext context;
  v1::GetReportReply reply;
  const grpc::Status status = stub->GetReport(&context, v1::GetReportRequest(), &reply);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("send blazed-protocol: 1"));
}

TEST_F(DaemonMisuse, TheProtocolsMetadataTwiceIsInvalid) {
  auto stub = v1::Tuner::NewStub(DialDaemon(daemon_->socket()));
  grpc::ClientContext context;
  Prepare(&context);
  context.AddMetadata("blazed-protocol", "2");
  v1::GetReportReply reply;
  const grpc::Status status = stub->GetReport(&context, v1::GetReportRequest(), &reply);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("blazed-protocol twice; send it once"));
}

TEST_F(DaemonMisuse, AnotherProtocolVersionIsRefused) {
  auto stub = v1::Tuner::NewStub(DialDaemon(daemon_->socket()));
  grpc::ClientContext context;
  context.AddMetadata("blazed-protocol", "2");
  auto stream = stub->Attach(&context);
  v1::DaemonMessage message;
  EXPECT_FALSE(stream->Read(&message));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::FAILED_PRECONDITION);
}

TEST_F(DaemonMisuse, AGapInTheNumbersEndsTheStream) {
  ASSERT_TRUE(shim_.Attach().ok());
  v1::ShimMessage message;
  message.set_sequence(3);
  message.mutable_bye();
  shim_.SendNumbered(message);
  const grpc::Status status = shim_.Finish();
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("message 3 came where 2 was due"));
}

TEST_F(DaemonMisuse, ARepeatedNumberEndsTheStream) {
  ASSERT_TRUE(shim_.Attach().ok());
  v1::ShimMessage message;
  message.set_sequence(1);
  message.mutable_bye();
  shim_.SendNumbered(message);
  EXPECT_EQ(shim_.Finish().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(DaemonMisuse, AFieldOutOfItsLimitsEndsTheStream) {
  shim_.hello().set_job(std::string(1000, 'a'));
  const grpc::Status status = shim_.Attach();
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "Hello.job has 1000 bytes; send at most 96");
}

TEST_F(DaemonMisuse, AMessageAboveTheLimitIsExhausted) {
  ASSERT_TRUE(shim_.Attach().ok());
  v1::ShimMessage message;
  message.mutable_graph_seen()->set_description(std::string(2 << 20, 'a'));
  shim_.Send(message);
  EXPECT_EQ(shim_.Finish().error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(DaemonMisuse, TooManyDecisionsAreExhausted) {
  SyntheticHost host;
  host.saving.assign(513, 0.0);
  ScriptedShim shim(daemon_->socket(), host, 1);
  ASSERT_TRUE(shim.Attach().ok());
  ASSERT_TRUE(shim.Describe());
  const grpc::Status status = shim.Finish();
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("513 decisions and 512 are taken"));
}

TEST_F(DaemonMisuse, WhatIsOutOfOrderIsRefusedAndTheStreamGoesOn) {
  ASSERT_TRUE(shim_.Attach().ok());
  v1::ShimMessage workload, again, unknown;
  *workload.mutable_workload_seen() = Host().Workload();
  shim_.Send(workload);
  EXPECT_THAT(shim_.Read()->refused().detail(), HasSubstr("was not described"));
  *again.mutable_hello() = shim_.hello();
  shim_.Send(again);
  EXPECT_THAT(shim_.Read()->refused().detail(), HasSubstr("send Hello once"));
  unknown.mutable_steps_done()->set_lease_id(12345);
  shim_.Send(unknown);
  const auto refused = shim_.Read();
  EXPECT_EQ(refused->refused().sequence(), 4u);
  EXPECT_THAT(refused->refused().detail(), HasSubstr("nothing was asked under id 12345"));
  shim_.Bye();
  EXPECT_TRUE(shim_.Finish().ok());
}

TEST_F(DaemonMisuse, AClaimOnAnothersFingerprintIsRefused) {
  ASSERT_TRUE(shim_.Attach().ok());
  v1::ShimMessage graph, claim;
  *graph.mutable_graph_seen() = Host().Graph();
  *claim.mutable_workload_seen() = Host().Workload();
  claim.mutable_workload_seen()->mutable_decisions()->RemoveLast();
  shim_.Send(graph);
  shim_.Send(claim);
  EXPECT_THAT(shim_.Read()->refused().detail(), HasSubstr("its graphs and decisions give"));
  shim_.Bye();
  EXPECT_TRUE(shim_.Finish().ok());
}

TEST_F(DaemonMisuse, ADeviceThatNamesNoGpuIsInvalid) {
  shim_.hello().set_device("GPU-0");
  const grpc::Status status = shim_.Attach();
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("neither cpu nor a GPU's UUID"));
}

TEST_F(DaemonMisuse, ABodyOfALaterVersionIsLeftOut) {
  ASSERT_TRUE(shim_.Attach().ok());
  v1::ShimMessage later;
  later.ParseFromString(std::string("\xa2\x06\x01x", 4));  // field 100
  shim_.Send(later);
  shim_.Bye();
  EXPECT_TRUE(shim_.Finish().ok());
}

TEST_F(DaemonMisuse, TimesThatCannotBeVoidTheLeaseAndTheSearchGoesOn) {
  ASSERT_TRUE(shim_.Attach().ok());
  ASSERT_TRUE(shim_.Describe());
  const std::vector<uint64_t> absurd = {0, UINT64_MAX, uint64_t{1} << 62};
  size_t sent = 0, leases = 0;
  // Every second lease: a session that never brings a time ends its search, and rightly.
  shim_.before_answer = [&](const v1::DaemonMessage& message) {
    if (!message.has_run_pairs() || sent == absurd.size() || leases++ % 2 == 1) return true;
    v1::ShimMessage answer;
    v1::StepsDone* done = answer.mutable_steps_done();
    done->set_lease_id(message.run_pairs().lease_id());
    done->set_complete(1);
    for (uint32_t i = 0; i < 2 * message.run_pairs().pairs(); ++i) {
      done->add_units()->set_host_ns(absurd[sent]);
    }
    ++sent;
    shim_.Send(answer);
    return false;
  };
  ASSERT_TRUE(shim_.PlayUntil([&](const ScriptedResult& result) {
    return sent == absurd.size() && result.leases > 3;
  })) << shim_.Finish().error_message();
  EXPECT_EQ(shim_.result().refused, absurd.size());
  EXPECT_THAT(shim_.result().refused_detail, HasSubstr("the lease is void"));
}

TEST_F(DaemonMisuse, AnAnswerThatComesTwiceCountsOnce) {
  ASSERT_TRUE(shim_.Attach().ok());
  ASSERT_TRUE(shim_.Describe());
  bool doubled = false;
  shim_.before_answer = [&](const v1::DaemonMessage& message) {
    if (!message.has_build() || doubled) return true;
    doubled = true;
    for (int i = 0; i < 2; ++i) {
      v1::ShimMessage answer;
      answer.mutable_variant_built()->set_build_id(message.build().build_id());
      answer.mutable_variant_built()->set_variant(message.build().variant());
      answer.mutable_variant_built()->set_status(v1::BUILD_STATUS_FAILED);
      shim_.Send(answer);
    }
    return false;
  };
  ASSERT_TRUE(shim_.PlayUntil([](const ScriptedResult& result) {
    return result.settled.has_value();
  })) << shim_.Finish().error_message();
  EXPECT_TRUE(doubled);
  EXPECT_EQ(shim_.result().refused, 0u);
}

TEST_F(DaemonMisuse, ATokenOfNobodyIsNotFound) {
  ASSERT_TRUE(shim_.Attach().ok());
  auto stub = v1::Tuner::NewStub(DialDaemon(daemon_->socket()));
  const auto ask = [&](const std::string& token) {
    grpc::ClientContext context;
    Prepare(&context);
    v1::GetReportRequest request;
    request.set_session(token);
    v1::GetReportReply reply;
    return stub->GetReport(&context, request, &reply).error_code();
  };
  EXPECT_EQ(ask(std::string(16, 'x')), StatusCode::NOT_FOUND);
  EXPECT_EQ(ask("short"), StatusCode::INVALID_ARGUMENT);
}

TEST_F(DaemonMisuse, AConnectionThatTalksAnotherProtocolIsClosed) {
  for (const char* junk : {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", ""}) {
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, daemon_->socket().c_str());
    ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(send(client, junk, strlen(junk), MSG_NOSIGNAL), static_cast<ssize_t>(strlen(junk)));
    char buffer[4096];
    ssize_t got;
    while ((got = read(client, buffer, sizeof(buffer))) > 0) {
    }
    EXPECT_LE(got, 0) << "the end of the stream, not a wait for ever";
    close(client);
  }
}

}  // namespace
}  // namespace blazed::fakes
