// Clients that speak HTTP/2 or gRPC by hand, and badly: what they cannot make the daemon do.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// ---- HTTP/2 ----

std::string Frame(char type, const std::string& payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  const char head[] = {static_cast<char>(size >> 16),
                       static_cast<char>(size >> 8),
                       static_cast<char>(size),
                       type,
                       0,
                       0,
                       0,
                       0,
                       0};
  return std::string(head, sizeof(head)) + payload;
}

// A connection that asks for answers and reads none.
int ConnectUnread(const std::string& path) {
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string begin = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, "");
  EXPECT_EQ(send(client, begin.data(), begin.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(begin.size()));
  return client;
}

size_t CountOf(const std::string& part, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Room for what a sanitizer keeps of freed memory; unbounded answers take gigabytes.
constexpr uint64_t kMostGrowthMib = 200;

uint64_t ResidentMib(pid_t pid) {
  std::ifstream statm(absl::StrCat("/proc/", pid, "/statm"));
  uint64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

class DaemonRawClient : public testing::Test {
 protected:
  void Start(const std::string& config) {
    const std::string path = folder_.path() + "/blazed.toml";
    std::ofstream(path) << config;
    daemon_ =
        std::make_unique<PrivateDaemon>(folder_.path(), std::vector<std::string>{"--config", path});
    ASSERT_TRUE(daemon_->WaitReady()) << daemon_->Log();
  }

  TemporaryFolder folder_;
  std::unique_ptr<PrivateDaemon> daemon_;
};

TEST_F(DaemonRawClient, PingsThatNobodyReadsTheAnswersOfTakeNoMemoryAndEnd) {
  Start("[limits]\nmemory_mib = 16\n");  // scarce from the start
  std::string pings;
  for (int i = 0; i < 4000; ++i) pings += Frame(6, "12345678");
  std::vector<int> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(ConnectUnread(daemon_->socket()));
  const uint64_t before_mib = ResidentMib(daemon_->pid());
  uint64_t most_mib = before_mib;
  for (const int client : clients) {
    // Until the daemon cuts the connection, as fast as it takes pings.
    size_t at = 0;
    while (true) {
      const ssize_t sent =
          send(client, pings.data() + at, pings.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        at = (at + static_cast<size_t>(sent)) % pings.size();
      } else if (errno != EAGAIN) {
        break;
      } else {
        pollfd room{client, POLLOUT, 0};
        poll(&room, 1, 10);
      }
      most_mib = std::max(most_mib, ResidentMib(daemon_->pid()));
    }
    close(client);
  }
  EXPECT_LT(most_mib, before_mib + kMostGrowthMib);
  EXPECT_TRUE(daemon_->WaitLogged({"connections cut", "clients do not read"})) << daemon_->Log();
  ScriptedShim shim(daemon_->socket(), SyntheticHost(), 1);
  EXPECT_TRUE(shim.Attach().ok()) << "others are served on";
}

TEST_F(DaemonRawClient, AConnectionTooManyIsToldSoAndTheLogIsNotFilled) {
  Start("[limits]\nconnections_per_user = 3\n");
  std::vector<int> clients;
  for (int i = 0; i < 103; ++i) clients.push_back(ConnectUnread(daemon_->socket()));
  for (size_t i = 3; i < clients.size(); ++i) {
    fcntl(clients[i], F_SETFL, 0);  // waits for the words, and for the end
    std::string words;
    char buffer[512];
    for (ssize_t got; (got = read(clients[i], buffer, sizeof(buffer))) > 0;) {
      words.append(buffer, static_cast<size_t>(got));
    }
    EXPECT_THAT(words, HasSubstr("has 3 connections open, which is the limit; close one")) << i;
  }
  for (const int client : clients) close(client);
  EXPECT_EQ(daemon_->Stop(), 0);
  const size_t lines = CountOf("connections closed at accept", daemon_->Log());
  EXPECT_GE(lines, 1u);
  EXPECT_LT(lines, 50u) << "one in ten seconds, not one for each";
}

// ---- gRPC ----

grpc::ByteBuffer Bytes(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// Sends these messages on a stream and answers how the daemon ends it, while this end stays open.
grpc::Status Attach(const std::string& socket, const std::vector<std::string>& messages) {
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(DialDaemon(socket));
  grpc::ClientContext context;
  Prepare(&context);
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  const auto next = [&] { return queue.Next(&tag, &ok) && ok; };
  auto stream = stub.PrepareCall(&context, "/blazed.v1.Tuner/Attach", &queue);
  stream->StartCall(nullptr);
  next();
  bool going = true;
  for (const std::string& message : messages) {
    if (!going) break;
    stream->Write(Bytes(message), nullptr);
    going = next();
  }
  grpc::ByteBuffer answer;
  while (going) {
    stream->Read(&answer, nullptr);
    going = next();
  }
  grpc::Status status;
  stream->Finish(&status, nullptr);
  next();
  return status;
}

std::string Hello(const std::string& job) {
  v1::ShimMessage message;
  message.set_sequence(1);
  message.mutable_hello()->set_job(job);
  message.mutable_hello()->set_device("cpu");
  message.mutable_hello()->set_mode(v1::MODE_TUNE);
  return message.SerializeAsString();
}

std::string WithBadText(std::string message) {
  const size_t at = message.find("ABCDEFG");
  return message.replace(at, 7, "\xff\xfe\xfd\xfc\xfb\xfa\xf9");
}

TEST_F(DaemonRawClient, BytesThatAreNoMessageAreInvalidByNameWhereverTheyCome) {
  Start("");
  v1::ShimMessage graph;
  graph.set_sequence(2);
  graph.mutable_graph_seen()->set_name("ABCDEFG");
  const std::string garbage(50, '\xff'), good = Hello("ABCDEFG");
  const std::vector<std::vector<std::string>> streams = {
      {garbage},
      {good, garbage},
      {WithBadText(good)},
      {good, WithBadText(graph.SerializeAsString())},
      {good.substr(0, good.size() - 1)},
      {good, good.substr(0, 5)},
  };
  for (size_t i = 0; i < streams.size(); ++i) {
    const grpc::Status status = Attach(daemon_->socket(), streams[i]);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << i;
    EXPECT_THAT(status.error_message(),
                HasSubstr(absl::StrCat("after message ", streams[i].size() - 1,
                                       " is no ShimMessage; send messages as tuner.proto says")))
        << i;
  }
  EXPECT_EQ(daemon_->Stop(), 0);
  EXPECT_THAT(daemon_->Log(), AllOf(HasSubstr("message rejected"), Not(HasSubstr("libprotobuf"))));
}

grpc::Status Call(const std::string& socket, const std::string& method,
                  const std::string& request) {
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(DialDaemon(socket));
  grpc::ClientContext context;
  Prepare(&context);
  grpc::CompletionQueue queue;
  auto call = stub.PrepareUnaryCall(&context, method, Bytes(request), &queue);
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

TEST_F(DaemonRawClient, ARequestThatIsNoMessageIsInvalidAndAMethodThatIsNotIsUnimplemented) {
  Start("");
  const std::string garbage(50, '\xff');
  for (const char* method :
       {"/blazed.v1.History/ListPlans", "/blazed.v1.History/GetStatus",
        "/blazed.v1.History/Explain", "/blazed.v1.History/Watch", "/blazed.v1.Tuner/GetReport"}) {
    const grpc::Status status = Call(daemon_->socket(), method, garbage);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
    EXPECT_THAT(status.error_message(),
                AllOf(HasSubstr(method), HasSubstr("send it as its .proto says")));
  }
  EXPECT_TRUE(Call(daemon_->socket(), "/blazed.v1.History/GetStatus", "").ok());
  EXPECT_EQ(Call(daemon_->socket(), "/blazed.v1.History/NoSuchMethod", garbage).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace blazed::fakes
