#include "tests/fakes/private_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace blazed::fakes {
namespace {

constexpr int kPatienceMs = 60'000;  // beyond it the test has failed

std::vector<char*> ArgumentsOf(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool HasLine(const std::string& text, const std::vector<std::string>& parts) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    bool all = true;
    for (const std::string& part : parts) all = all && line.find(part) != std::string::npos;
    if (all) return true;
  }
  return false;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* root = getenv("TMPDIR");
  std::string name = std::string(root != nullptr ? root : "/tmp") + "/blazed-test-XXXXXX";
  path_ = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a test must not fail over its own litter
  std::filesystem::remove_all(path_, ignored);
}

std::string DaemonBinary() { return BLAZED_DAEMON_BINARY; }

Ended RunProgram(const std::vector<std::string>& command) {
  int pipe_fds[2];
  Ended ended;
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return ended;
  std::vector<char*> arguments = ArgumentsOf(command);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(pipe_fds[1], STDOUT_FILENO);
    dup2(pipe_fds[1], STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(pipe_fds[1]);
  char buffer[4096];
  ssize_t got;
  while ((got = read(pipe_fds[0], buffer, sizeof(buffer))) > 0) {
    ended.output.append(buffer, static_cast<size_t>(got));
  }
  close(pipe_fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

PrivateDaemon::PrivateDaemon(const std::string& folder, std::vector<std::string> extra)
    : folder_(folder), socket_(folder + "/blazed.sock"), log_path_(folder + "/log") {
  const std::string notify_path = folder + "/notify";
  unlink(notify_path.c_str());
  notify_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, notify_path.c_str(), sizeof(address.sun_path) - 1);
  (void)bind(notify_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));

  std::vector<std::string> command = {DaemonBinary(), "--socket", socket_, "--state",
                                      folder + "/state"};
  command.insert(command.end(), extra.begin(), extra.end());
  std::vector<char*> arguments = ArgumentsOf(command);
  const int log = open(log_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  pid_ = fork();
  if (pid_ == 0) {
    setenv("NOTIFY_SOCKET", notify_path.c_str(), 1);
    dup2(log, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(log);
}

PrivateDaemon::~PrivateDaemon() {
  if (pid_ > 0) Kill();
  close(notify_);
}

bool PrivateDaemon::WaitReady() {
  // The daemon's end shows as a zombie: looked at whenever nothing is said for a while.
  for (int waited_ms = 0; waited_ms < kPatienceMs; waited_ms += 100) {
    pollfd said{notify_, POLLIN, 0};
    if (poll(&said, 1, 100) == 1) {
      char text[512];
      const ssize_t size = recv(notify_, text, sizeof(text), 0);
      if (size > 0 && std::string(text, static_cast<size_t>(size)).find("READY=1") == 0)
        return true;
      continue;
    }
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_) {
      return false;
    }
  }
  return false;
}

void PrivateDaemon::Signal(int number) { kill(pid_, number); }

int PrivateDaemon::Join() {
  if (pid_ <= 0) return -1;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int PrivateDaemon::Stop() {
  Signal(SIGTERM);
  return Join();
}

void PrivateDaemon::Kill() {
  Signal(SIGKILL);
  Join();
}

std::string PrivateDaemon::Log() const { return ReadAll(log_path_); }

bool PrivateDaemon::WaitLogged(const std::vector<std::string>& parts) const {
  const int watch = inotify_init1(IN_CLOEXEC);
  inotify_add_watch(watch, log_path_.c_str(), IN_MODIFY);
  bool found = HasLine(Log(), parts);
  while (!found) {
    pollfd changed{watch, POLLIN, 0};
    if (poll(&changed, 1, kPatienceMs) != 1) break;
    char events[4096];
    (void)!read(watch, events, sizeof(events));
    found = HasLine(Log(), parts);
  }
  close(watch);
  return found;
}

}  // namespace blazed::fakes
