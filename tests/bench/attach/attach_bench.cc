// How long attaching holds a host up where no daemon answers: nobody listens, or somebody listens
// and says nothing.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/support/child_process.h"
#include "tests/bench/support/even_host.h"

namespace blazed::bench {
namespace {

constexpr int kTries = 40;

std::vector<double> AttachTimes(const std::string& socket) {
  EvenHost host(1);
  const blz_options options = host.Options(socket);
  const blz_host_ops ops = host.Ops();
  std::vector<double> took;
  for (int i = 0; i < kTries; ++i) {
    blz_session* session = nullptr;
    const auto before = std::chrono::steady_clock::now();
    blz_attach(&options, &ops, &session);
    took.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before)
            .count());
    blz_close(session);
  }
  return took;
}

// Accepts nothing and answers nothing: connections wait in the backlog, as with a stopped daemon.
int ListenSilently(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(fd, 2 * kTries) != 0) {
    return -1;
  }
  return fd;
}

int Run() {
  TemporaryFolder folder;
  const std::string silent = folder.path() + "/silent";
  if (ListenSilently(silent) < 0) return 1;
  const nlohmann::json result = {
      {"what", "blz_attach until it returns, where no daemon answers"},
      {"series",
       {{{"arm", "nobody listens"},
         {"unit", "ms"},
         {"values", AttachTimes(folder.path() + "/none")}},
        {{"arm", "the listener stays silent"}, {"unit", "ms"}, {"values", AttachTimes(silent)}}}}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::bench

int main() { return blazed::bench::Run(); }
