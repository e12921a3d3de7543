// A program started and ended with its owner, and a folder that goes with the bench. What goes
// wrong is thrown, so that owners unwind on the way to `main`: an exit in the middle would leave
// the daemon running and its folder behind.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace blazed::bench {

// Throws what Guarded says.
[[noreturn]] void Fail(const std::string& why);

// The inside of a bench's `main`: what `run` gives, or 1 and a sentence where it failed.
int Guarded(const char* bench, const std::function<int()>& run);

// Ends with its owner, and also with the thread that started it, however that ends.
class ChildProcess {
 public:
  // Its output goes to `log`. Fails where the program cannot start.
  ChildProcess(const std::vector<std::string>& command, const std::string& log);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Whether somebody listens on the socket.
bool Listens(const std::string& socket);

// Waits until somebody listens on the socket; fails after half a minute.
void AwaitListener(const std::string& socket);

// A daemon of this build with a store of its own that listens once constructed.
class BenchDaemon {
 public:
  explicit BenchDaemon(const std::string& build);

  const std::string& socket() const { return socket_; }
  // A socket at which nobody listens.
  const std::string& nowhere() const { return nowhere_; }
  pid_t pid() const { return process_.pid(); }

 private:
  const TemporaryFolder folder_;
  const std::string socket_ = folder_.path() + "/s", nowhere_ = folder_.path() + "/none";
  ChildProcess process_;
};

// The `main` of a bench that is called with --build FOLDER; `run` gives the exit code.
int RunWithBuild(int argc, char** argv, int (*run)(const std::string& build));

}  // namespace blazed::bench
