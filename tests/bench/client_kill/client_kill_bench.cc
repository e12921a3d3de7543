// SIGKILL of a client that holds a lease, while a forked child of it lives on with its socket: how
// long until the daemon has freed the session. Prints {"what", "series"}.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "blazed/v1/history.grpc.pb.h"
#include "tests/bench/support/child_process.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 40;
constexpr auto kLook = std::chrono::milliseconds(1);  // between two questions for the sessions
constexpr auto kPatience = std::chrono::seconds(30);

// A process that was given a lease, has forked, and answers nothing any more. Its child lives for
// as long as this does: it waits for the other end of a pipe.
class HangingClient {
 public:
  explicit HangingClient(const std::string& socket) {
    int to_child[2], from_client[2];
    if (pipe(to_child) != 0 || pipe(from_client) != 0) Fail("no pipe could be made");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to_child[0], STDIN_FILENO);
      dup2(from_client[1], STDOUT_FILENO);
      close(to_child[1]);
      close(from_client[0]);
      execl(BLAZED_SCRIPTED_SHIM, BLAZED_SCRIPTED_SHIM, socket.c_str(), "hang", nullptr);
      _exit(127);
    }
    close(to_child[0]);
    close(from_client[1]);
    child_ = to_child[1];
    said_ = from_client[0];
    char line[32];
    if (read(said_, line, sizeof(line)) <= 0) Fail("the client did not get a lease");
  }
  ~HangingClient() {
    Kill();
    close(child_);
    close(said_);
  }
  HangingClient(const HangingClient&) = delete;
  HangingClient& operator=(const HangingClient&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int child_ = -1, said_ = -1;
};

int Sessions(v1::History::Stub& history) {
  grpc::ClientContext context;
  fakes::Prepare(&context);
  v1::GetStatusReply reply;
  const grpc::Status status = history.GetStatus(&context, {}, &reply);
  if (!status.ok()) Fail("the daemon gave no status: " + status.error_message());
  return reply.sessions_size();
}

double FreedAfterMs(const std::string& socket, v1::History::Stub& history) {
  HangingClient client(socket);
  if (Sessions(history) != 1) Fail("the client has no session");
  const Clock::time_point killed = Clock::now();
  client.Kill();
  while (Sessions(history) > 0) {
    if (Clock::now() - killed > kPatience) Fail("the session of a killed client stays");
    std::this_thread::sleep_for(kLook);
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - killed).count();
}

// For whoever reads the figure: other programs lengthen it.
std::string LoadText() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return "unknown";
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", load);
  return text;
}

int Run(const std::string&) {
  const std::string load = LoadText();
  fakes::TemporaryFolder folder;
  fakes::PrivateDaemon daemon(folder.path());
  if (!daemon.WaitReady()) Fail("the daemon did not start: " + daemon.Log());
  const auto history = v1::History::NewStub(fakes::DialDaemon(daemon.socket()));
  std::vector<double> freed;
  for (int i = 0; i < kRounds; ++i) freed.push_back(FreedAfterMs(daemon.socket(), *history));
  const nlohmann::json series = {{{"workload", "synthetic"},
                                  {"arm", "session freed after SIGKILL of its client"},
                                  {"unit", "ms"},
                                  {"values", freed}}};
  const std::string what =
      "SIGKILL of a client that holds a lease, " + std::to_string(kRounds) +
      " times, while its forked child keeps the socket open: until the daemon's status, asked for "
      "every millisecond, names the session no more; load average of the machine at the start " +
      load;
  std::printf("%s\n", nlohmann::json({{"what", what}, {"series", series}}).dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::bench

int main(int argc, char** argv) {
  return blazed::bench::RunWithBuild(argc, argv, blazed::bench::Run);
}
