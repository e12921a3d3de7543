#include "tests/bench/support/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

extern char** environ;

namespace blazed::bench {
namespace {

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

}  // namespace

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
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int failed = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) Die("cannot start " + command[0] + ": " + std::strerror(failed));
}

ChildProcess::~ChildProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "blazed-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) Die("cannot make a temporary folder");
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
  Die("nobody listens at " + socket);
}

BenchDaemon::BenchDaemon(const std::string& build)
    : process_({build + "/bin/blazed", "--socket", socket_, "--state", folder_.path() + "/state"},
               folder_.path() + "/log") {
  AwaitListener(socket_);
}

int RunWithBuild(int argc, char** argv, int (*run)(const std::string& build)) {
  if (argc == 3 && std::strcmp(argv[1], "--build") == 0) return run(argv[2]);
  std::fprintf(stderr, "usage: %s --build FOLDER\n", argv[0]);
  return 2;
}

}  // namespace blazed::bench
