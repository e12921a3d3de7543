#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace blazed::trainer {

struct ChildCommand {
  std::vector<std::string> arguments;  // [0] is the program's path
  std::string log;                     // file that takes its output; empty: the parent's
  // In the terminal's foreground group Ctrl-C reaches the child itself; in a group of its own only
  // the parent decides when it ends.
  enum class Group { kParents, kOwn } group = Group::kParents;
};

// A program started by this process. It is asked to end when this process dies, however that comes
// about, so nothing is left behind. Movable; one thread, the one that started it.
class ChildProcess {
 public:
  // NOT_FOUND when the program is not there, UNAVAILABLE when it cannot be started.
  static absl::StatusOr<ChildProcess> Start(const ChildCommand& command);

  // A child still running is stopped.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  pid_t pid() const { return pid_; }
  // Readable once the child has ended; for poll.
  int descriptor() const { return descriptor_; }

  // Waits at most `limit`; true once it has ended. A signal to this process ends the wait early.
  bool EndedWithin(absl::Duration limit);
  // Its exit code, or 128 + the signal that ended it. Only after it has ended.
  int exit_code() const { return exit_code_; }
  // "exited with 1", "was ended by signal 9".
  std::string HowItEnded() const;

  void Signal(int signal) const;
  // SIGTERM, then SIGKILL after `grace`.
  void Stop(absl::Duration grace);

 private:
  ChildProcess(pid_t pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}
  void Reap();

  pid_t pid_ = -1;
  int descriptor_ = -1;
  bool ended_ = false;
  int wait_status_ = 0;
  int exit_code_ = 0;
};

}  // namespace blazed::trainer
