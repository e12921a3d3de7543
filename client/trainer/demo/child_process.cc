#include "client/trainer/demo/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// glibc 2.36 declares these functions without C linkage for C++.
extern "C" {
#include <sys/pidfd.h>
}

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace blazed::trainer {
namespace {

// Runs in the child between fork and exec: async-signal-safe calls only. Returns an errno.
int Become(const ChildCommand& command, char* const* arguments, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have died before the line above.
  if (getppid() != parent) _exit(127);
  if (command.group == ChildCommand::Group::kOwn) setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) signal(ignored, SIG_DFL);
  if (!command.log.empty()) {
    const int log = open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (log < 0 || input < 0) return errno;
    dup2(input, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execv(arguments[0], arguments);
  return errno;
}

// Reads the errno that a child could not exec with; 0 when it could: exec closed the pipe.
int ExecError(int descriptor) {
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(descriptor, &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(const ChildCommand& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    const int error = Become(command, arguments.data(), parent);
    [[maybe_unused]] const ssize_t ignored = write(ends[1], &error, sizeof error);
    _exit(127);
  }
  int error = pid < 0 ? errno : 0;
  close(ends[1]);
  if (pid > 0) error = ExecError(ends[0]);
  close(ends[0]);
  const int descriptor = pid > 0 ? pidfd_open(pid, 0) : -1;
  if (pid > 0 && error == 0 && descriptor < 0) error = errno;
  if (error == 0) return ChildProcess(pid, descriptor);
  if (pid > 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    if (descriptor >= 0) close(descriptor);
  }
  const std::string sentence =
      absl::StrCat("cannot start ", command.arguments[0], ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(sentence) : absl::UnavailableError(sentence);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      ended_(other.ended_),
      wait_status_(other.wait_status_),
      exit_code_(other.exit_code_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(ended_, other.ended_);
  std::swap(wait_status_, other.wait_status_);
  std::swap(exit_code_, other.exit_code_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  Stop(absl::Seconds(5));
  close(descriptor_);
}

void ChildProcess::Reap() {
  if (ended_) return;
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
  exit_code_ = WIFEXITED(wait_status_) ? WEXITSTATUS(wait_status_) : 128 + WTERMSIG(wait_status_);
}

bool ChildProcess::EndedWithin(absl::Duration limit) {
  if (ended_) return true;
  pollfd waiting = {descriptor_, POLLIN, 0};
  const int64_t ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(limit), 0, 1 << 30);
  if (poll(&waiting, 1, static_cast<int>(ms)) <= 0) return false;
  Reap();
  return true;
}

std::string ChildProcess::HowItEnded() const {
  if (WIFEXITED(wait_status_)) return absl::StrCat("exited with ", exit_code_);
  return absl::StrCat("was ended by signal ", WTERMSIG(wait_status_));
}

void ChildProcess::Signal(int signal) const {
  // By the descriptor: a pid may belong to another process once this one was reaped.
  if (!ended_) pidfd_send_signal(descriptor_, signal, nullptr, 0);
}

void ChildProcess::Stop(absl::Duration grace) {
  if (ended_) return;
  Signal(SIGTERM);
  const absl::Time deadline = absl::Now() + grace;
  while (!EndedWithin(deadline - absl::Now())) {
    if (absl::Now() >= deadline) break;
  }
  if (ended_) return;
  Signal(SIGKILL);
  Reap();
}

}  // namespace blazed::trainer
