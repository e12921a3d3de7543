// Whatever listens on the socket, the host trains on.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "tests/contract/shim/test_daemon.h"
#include "tests/contract/shim/test_host.h"

namespace blazed::contract {
namespace {

int Listen(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(fd, 16), 0);
  return fd;
}

// Accepts every connection and hands it to `serve`, in a thread of its own.
class BadServer {
 public:
  using Serve = std::function<void(int fd)>;

  BadServer(const std::string& path, Serve serve)
      : listener_(Listen(path)), thread_([this, serve = std::move(serve)] { Run(serve); }) {}
  ~BadServer() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (const int fd : open_) close(fd);
    close(listener_);
  }
  int accepted() const { return accepted_; }

 private:
  void Run(const Serve& serve) {
    while (!stopping_) {
      const int fd = accept(listener_, nullptr, nullptr);
      if (fd < 0) continue;
      open_.push_back(fd);
      ++accepted_;
      serve(fd);
    }
  }
  const int listener_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  std::vector<int> open_;
  std::thread thread_;
};

// Up to `rounds` writes; ends where the shim has hung up.
void Flood(int fd, const std::string& bytes, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    pollfd polled{fd, POLLOUT, 0};
    if (poll(&polled, 1, 1000) <= 0) return;
    if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
  }
}

class Hostile : public testing::Test {
 protected:
  Session Attach() {
    socket = folder.Socket();
    blz_options options = Session::DefaultOptions();
    options.socket = socket.c_str();
    options.mode = BLZ_MODE_TUNE;
    return Session(options, &host);
  }
  // Attaches, runs steps until the server was tried twice, and closes.
  void TrainThrough(BadServer& server) {
    Session session = Attach();
    host.Describe(session);
    host.StepUntil(session, [&] { return server.accepted() >= 2; });
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(host.Step(session), 0u);
    EXPECT_EQ(session.Status().state, BLZ_STATE_ATTACHING) << session.Reason();
    EXPECT_NE(session.Reason(), "");
  }
  TemporaryFolder folder;
  TestHost host;
  std::string socket;
};

TEST_F(Hostile, AServerThatHangsUpAtOnce) {
  BadServer server(folder.Socket(), [](int fd) { shutdown(fd, SHUT_RDWR); });
  TrainThrough(server);
}

TEST_F(Hostile, AServerThatNeverReadsNorWrites) {
  BadServer server(folder.Socket(), [](int) {});
  TrainThrough(server);
}

TEST_F(Hostile, AServerThatSpeaksAnotherProtocol) {
  BadServer server(folder.Socket(), [](int fd) { Flood(fd, "SSH-2.0-OpenSSH_9.2\r\n", 1); });
  TrainThrough(server);
}

TEST_F(Hostile, AServerThatSendsZerosWithoutEnd) {
  BadServer server(folder.Socket(), [](int fd) { Flood(fd, std::string(65536, '\0'), 10'000); });
  TrainThrough(server);
}

TEST_F(Hostile, AServerThatSendsNoise) {
  constexpr uint64_t kSeed = 99;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  BadServer server(folder.Socket(), [&random](int fd) {
    std::string noise(65536, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    Flood(fd, noise, 16);
  });
  TrainThrough(server);
}

TEST_F(Hostile, AServerThatSendsSettingsWithoutEnd) {
  // A SETTINGS frame that is empty and asks for an acknowledgement each time.
  std::string settings;
  for (int i = 0; i < 4096; ++i) settings.append("\0\0\0\4\0\0\0\0\0", 9);
  BadServer server(folder.Socket(), [&](int fd) { Flood(fd, settings, 2000); });
  TrainThrough(server);
}

TEST_F(Hostile, AServerOfAnotherUserIsNotTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to serve as another user";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  const pid_t server = fork();
  if (server == 0) {
    if (setuid(65534) != 0) _exit(1);
    Listen(folder.Socket());
    const char byte = 1;
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  Session session = Attach();
  EXPECT_EQ(session.Status().state, BLZ_STATE_OFF);
  EXPECT_NE(session.Reason().find("another user"), std::string::npos) << session.Reason();
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
}

TEST_F(Hostile, ADaemonThatFreezesAfterItsWelcome) {
  int ready[2];
  int stop[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(stop), 0);
  const pid_t process = fork();
  if (process == 0) {
    close(stop[1]);
    TestDaemon daemon(folder.Socket());
    char byte = 1;
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    static_cast<void>(!read(stop[0], &byte, 1));
    _exit(0);
  }
  close(stop[0]);
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  Session session = Attach();
  host.StepUntil(session, [&] { return session.Status().state == BLZ_STATE_ATTACHED; });
  host.Describe(session);
  ASSERT_EQ(kill(process, SIGSTOP), 0);
  // Enough service windows to fill every queue there is, and none of it waits.
  for (int i = 0; i < 2'000'000; ++i) host.Step(session);
  EXPECT_EQ(session.Status().champion, 0u);
  EXPECT_EQ(session.ReportJson(1), "");
  ASSERT_EQ(kill(process, SIGCONT), 0);
  EXPECT_EQ(session.ReportJson(20'000), "{}");
  session.Close();
  close(stop[1]);
  waitpid(process, nullptr, 0);
}

}  // namespace
}  // namespace blazed::contract
