// A daemon on a machine that is very busy: it accepts at once and says its first words late.
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_posix.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "blazed/v1/history.grpc.pb.h"
#include "client/blazectl/verbs.h"

namespace blazed::blazectl {
namespace {

// Longer than gRPC waits where one bounds its pause between attempts, shorter than a person does.
constexpr auto kGreetsAfter = std::chrono::milliseconds(500);

class SlowServer {
 public:
  explicit SlowServer(const std::string& path) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.RegisterService(&history_);
    server_ = builder.BuildAndStart();
    EXPECT_NE(server_, nullptr);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listening_, 64), 0);
    thread_ = std::thread([this] { Accept(); });
  }

  ~SlowServer() {
    shutdown(listening_, SHUT_RDWR);
    thread_.join();
    close(listening_);
    server_->Shutdown();
  }

 private:
  void Accept() {
    int fd;
    while ((fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
      std::this_thread::sleep_for(kGreetsAfter);
      grpc::AddInsecureChannelFromFd(server_.get(), fd);
    }
  }

  v1::History::Service history_;  // gRPC starts with a service only
  std::unique_ptr<grpc::Server> server_;
  int listening_ = -1;
  std::thread thread_;
};

TEST(SlowGreeting, IsWaitedForAndNotCutShort) {
  std::string folder = testing::TempDir() + "blazectl-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Options options;
  options.verb = Verb::kHealth;
  options.socket = folder + "/s";
  options.timeout = absl::Seconds(30);
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  {
    const SlowServer server(options.socket);
    EXPECT_EQ(RunVerb(options, RealSurroundings(), out, err), ExitCode::kOk);
  }
  std::fclose(out);
  std::fclose(err);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace blazed::blazectl
