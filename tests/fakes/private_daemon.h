// A real daemon of a test's own: started as a process on a socket and a store in a temporary
// folder, stopped or killed by the test, gone with it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace blazed::fakes {

// A folder that is removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Ended {
  int exit_code = -1;  // -1: ended by a signal
  std::string output;  // stdout and stderr together
};

// Runs a program to its end.
Ended RunProgram(const std::vector<std::string>& command);

class PrivateDaemon {
 public:
  // `folder` outlives the daemon; another daemon may be started on it later. `arguments` go to
  // `blazed` as they are.
  explicit PrivateDaemon(const std::string& folder, std::vector<std::string> arguments = {});
  ~PrivateDaemon();
  PrivateDaemon(const PrivateDaemon&) = delete;
  PrivateDaemon& operator=(const PrivateDaemon&) = delete;

  const std::string& socket() const { return socket_; }
  pid_t pid() const { return pid_; }

  // Blocks until the daemon says READY to its service manager, which the test plays. False where it
  // ended instead.
  bool WaitReady();
  void Signal(int number);
  // Waits for its end; answers its exit code, or minus the signal that ended it.
  int Join();
  int Stop();   // SIGTERM and Join
  void Kill();  // SIGKILL and Join
  // Everything it logged so far.
  std::string Log() const;
  // Blocks until a line of the log holds all of `parts`; false where it never came.
  bool WaitLogged(const std::vector<std::string>& parts) const;

 private:
  std::string folder_, socket_, log_path_;
  int notify_ = -1;  // what READY comes to
  pid_t pid_ = -1;
};

// Path of the `blazed` binary that was built with the test.
std::string DaemonBinary();

}  // namespace blazed::fakes
