// A forked child is off at once; the parent notices nothing; a child may attach for itself.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "tests/contract/shim/test_daemon.h"
#include "tests/contract/shim/test_host.h"

namespace blazed::contract {
namespace {

// The daemon lives in a process of its own: gRPC does not survive a fork of the process it is in.
class DaemonProcess {
 public:
  explicit DaemonProcess(const std::string& socket) {
    int ready[2];
    int stop[2];
    if (pipe(ready) != 0 || pipe(stop) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(stop[1]);
      TestDaemon daemon(socket);
      char byte = 1;
      if (write(ready[1], &byte, 1) != 1) _exit(1);
      static_cast<void>(!read(stop[0], &byte, 1));  // until the test is over
      _exit(static_cast<int>(daemon.streams()));
    }
    close(stop[0]);
    stop_ = stop[1];
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~DaemonProcess() {
    if (pid_ > 0) Stop();
  }
  // Streams that it saw.
  int Stop() {
    close(stop_);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
  int stop_ = -1;
};

// The thread sanitizer's runtime ends a child of a threaded process that starts a thread of its own
// ("dup thread with used id"): it takes the parent's threads for the child's. All other presets run
// such tests.
#ifdef __SANITIZE_THREAD__
constexpr bool kChildrenMayStartThreads = false;
#else
constexpr bool kChildrenMayStartThreads = true;
#endif

std::set<std::string> OpenSockets() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry, gone);
    if (target.rfind("socket:", 0) == 0) found.insert(target);
  }
  return found;
}

class Fork : public testing::Test {
 protected:
  Session Attach() {
    socket = folder.Socket();
    blz_options options = Session::DefaultOptions();
    options.socket = socket.c_str();
    options.mode = BLZ_MODE_TUNE;
    return Session(options, &host);
  }
  void StepUntilAttached(Session& session) {
    host.StepUntil(session, [&] { return session.Status().state == BLZ_STATE_ATTACHED; });
  }
  // Runs `body` in a forked child; true: it returned zero.
  template <typename Body>
  static bool InChild(Body&& body) {
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  TemporaryFolder folder;
  TestHost host;
  std::string socket;
};

TEST_F(Fork, TheChildIsOffAndItsParentIsNot) {
  DaemonProcess daemon(folder.Socket());
  Session session = Attach();
  StepUntilAttached(session);
  const std::set<std::string> before = OpenSockets();
  EXPECT_EQ(before.size(), 1u);
  EXPECT_TRUE(InChild([&] {
    if (session.Status().state != BLZ_STATE_OFF) return 1;
    if (session.Reason().find("forked") == std::string::npos) return 2;
    for (int i = 0; i < 10'000; ++i) {
      if (session.StepBegin() != 0) return 3;
      session.StepEnd();
    }
    if (!OpenSockets().empty()) return 4;
    if (session.ReportJson(0) != "") return 5;
    session.Close();
    return 0;
  }));
  EXPECT_EQ(session.ReportJson(20'000), "{}");
  EXPECT_EQ(session.Status().state, BLZ_STATE_ATTACHED);
  session.Close();
  EXPECT_EQ(daemon.Stop(), 1);
}

TEST_F(Fork, TheChildMayAttachForItself) {
  if (!kChildrenMayStartThreads) GTEST_SKIP() << "not under the thread sanitizer";
  DaemonProcess daemon(folder.Socket());
  Session session = Attach();
  StepUntilAttached(session);
  EXPECT_TRUE(InChild([&] {
    Session own = Attach();
    StepUntilAttached(own);
    const bool reported = own.ReportJson(20'000) == "{}";
    const bool parents_is_off = session.Status().state == BLZ_STATE_OFF;
    own.Close();
    return reported && parents_is_off ? 0 : 1;
  }));
  StepUntilAttached(session);
  EXPECT_EQ(session.ReportJson(20'000), "{}");
  session.Close();
  EXPECT_EQ(daemon.Stop(), 2);
}

TEST_F(Fork, FortyChildrenInARowAndTheParentGoesOn) {
  DaemonProcess daemon(folder.Socket());
  Session session = Attach();
  StepUntilAttached(session);
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(InChild([&] { return host.Step(session) == 0 ? 0 : 1; }));
    EXPECT_EQ(session.ReportJson(20'000), "{}");
  }
}

// No at-fork handler runs for a bare system call: the page that the kernel wipes is the guard.
TEST_F(Fork, ABareCloneIsOffAsWell) {
  DaemonProcess daemon(folder.Socket());
  Session session = Attach();
  StepUntilAttached(session);
  const long pid = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    uint64_t handle = blz_step_begin(session.get());
    blz_step_end(session.get(), 0);
    blz_status_info info{};
    info.struct_size = sizeof info;
    blz_status(session.get(), &info);
    _exit(handle == 0 && info.state == BLZ_STATE_OFF ? 0 : 1);
  }
  int status = 0;
  waitpid(static_cast<pid_t>(pid), &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(session.ReportJson(20'000), "{}");
}

TEST_F(Fork, AGrandchildMayAttachWhereItsParentDidToo) {
  if (!kChildrenMayStartThreads) GTEST_SKIP() << "not under the thread sanitizer";
  DaemonProcess daemon(folder.Socket());
  Session session = Attach();
  StepUntilAttached(session);
  EXPECT_TRUE(InChild([&] {
    Session own = Attach();
    StepUntilAttached(own);
    const bool grandchild = InChild([&] {
      if (own.Status().state != BLZ_STATE_OFF) return 1;
      Session last = Attach();
      StepUntilAttached(last);
      return 0;
    });
    return grandchild && own.ReportJson(20'000) == "{}" ? 0 : 1;
  }));
}

TEST_F(Fork, NoThreadBeforeAttachAndNoneAfterClose) {
  const auto threads = [] {
    int count = 0;
    for ([[maybe_unused]] const auto& task :
         std::filesystem::directory_iterator("/proc/self/task")) {
      ++count;
    }
    return count;
  };
  DaemonProcess daemon(folder.Socket());
  std::thread([] {}).join();  // with the first thread a sanitizer starts its own
  const int before = threads();
  Session session = Attach();
  EXPECT_EQ(threads(), before + 1);
  session.Close();
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace blazed::contract
