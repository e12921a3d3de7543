#include "tests/bench/support/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace blazed::bench {
namespace {

constexpr int kCannotStart = 127;

// Between fork and exec: nothing here may allocate or lock.
[[noreturn]] void Become(char* const* argv, const char* log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool alone = getppid() != parent;  // it ended before it was asked for
  if (!alone && out >= 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2) execv(argv[0], argv);
  _exit(kCannotStart);
}

}  // namespace

void Fail(const std::string& why) { throw std::runtime_error(why); }

int Guarded(const char* bench, const std::function<int()>& run) {
  try {
    return run();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", bench, failure.what());
    return 1;
  }
}

bool Listens(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const bool listens =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return listens;
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (access(argv[0], X_OK) != 0) {
    Fail("cannot start " + command[0] + ": " + std::strerror(errno));
  }
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) Become(argv.data(), log.c_str(), parent);
  if (pid_ < 0) Fail("cannot start " + command[0] + ": " + std::strerror(errno));
}

ChildProcess::~ChildProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "blazed-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) Fail("cannot make a temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a leftover in the temporary folder harms nobody
  std::filesystem::remove_all(path_, ignored);
}

void AwaitListener(const std::string& socket) {
  for (int i = 0; i < 1500; ++i) {
    if (Listens(socket)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  Fail("nobody listens at " + socket);
}

BenchDaemon::BenchDaemon(const std::string& build)
    : process_({build + "/bin/blazed", "--socket", socket_, "--state", folder_.path() + "/state"},
               folder_.path() + "/log") {
  AwaitListener(socket_);
}

int RunWithBuild(int argc, char** argv, int (*run)(const std::string& build)) {
  if (argc == 3 && std::strcmp(argv[1], "--build") == 0) {
    return Guarded(argv[0], [&] { return run(argv[2]); });
  }
  std::fprintf(stderr, "usage: %s --build FOLDER\n", argv[0]);
  return 2;
}

}  // namespace blazed::bench
