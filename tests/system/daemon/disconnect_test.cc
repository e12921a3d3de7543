// Clients that are gone without a word, at any moment of their session's life and many at once:
// what a sanitizer's build of the daemon is for.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fakes/scripted_shim.h"

namespace blazed::fakes {
namespace {

constexpr int kClients = 4;
constexpr int kLivesPerClient = 40;
constexpr uint64_t kMostMessages = 40;  // a client goes after at most this many

SyntheticHost Host(uint64_t workload) {
  SyntheticHost host;
  host.name = absl::StrCat("workload ", workload);
  host.saving = {0.05, -0.04};
  return host;
}

// The start of an HTTP/2 connection, cut anywhere, and the socket closed under it.
void HangUpOnHttp2(const std::string& path, std::mt19937_64& random) {
  const std::string opening("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    (void)!send(fd, opening.data(), random() % (opening.size() + 1), MSG_NOSIGNAL);
  }
  close(fd);
}

// One client: attaches, plays for a while, and is gone in one of the ways there are.
void LiveOnce(const std::string& socket, std::mt19937_64& random) {
  if (random() % 8 == 0) return HangUpOnHttp2(socket, random);
  std::optional<ScriptedShim> shim;
  shim.emplace(socket, Host(random() % 3), random());
  uint64_t messages = random() % kMostMessages;
  // Some go in the face of a question, so that a lease, a build or a probe is open at the end.
  shim->before_answer = [&](const v1::DaemonMessage&) {
    if (messages > 0) --messages;
    return messages > 0 || random() % 2 == 0;
  };
  const auto play = [&] {
    shim->PlayUntil(
        [&](const ScriptedResult& result) { return messages == 0 || result.settled.has_value(); });
  };
  if (!shim->Attach().ok()) return;
  if (random() % 8 != 0 && shim->Describe()) play();
  switch (random() % 4) {
    case 0:  // the stream is cancelled
      return shim->Drop();
    case 1:  // writes end without Bye
      shim->Finish();
      return;
    case 2:  // comes back on another stream, and is gone again
      shim->Drop();
      if (shim->Attach().ok() && shim->Describe()) play();
      return shim->Drop();
    default:  // a last word that nobody waits for
      shim->Bye();
      return shim.reset();
  }
}

TEST(DaemonDisconnect, ClientsThatAreGoneAtAnyMomentHarmNobody) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  TemporaryFolder folder;
  const std::string config = folder.path() + "/blazed.toml";
  std::ofstream(config) << "[limits]\nresume_grace_s = 0\noutgoing_messages = 16\n";
  PrivateDaemon daemon(folder.path(), {"--config", config});
  ASSERT_TRUE(daemon.WaitReady()) << daemon.Log();
  std::vector<std::thread> clients;
  for (uint64_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      std::mt19937_64 random(seed + client);
      for (int life = 0; life < kLivesPerClient; ++life) LiveOnce(daemon.socket(), random);
    });
  }
  for (std::thread& client : clients) client.join();
  ScriptedShim shim(daemon.socket(), Host(99), 1);
  EXPECT_TRUE(shim.RunJob()) << shim.Finish().error_message() << daemon.Log();
  shim.Bye();
  EXPECT_TRUE(shim.Finish().ok());
  EXPECT_EQ(daemon.Stop(), 0) << daemon.Log();
}

}  // namespace
}  // namespace blazed::fakes
