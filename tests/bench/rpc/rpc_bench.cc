// blazed's round trips beside a bare gRPC echo on the same machine, in the same run, in turns whose
// order is drawn afresh each round. Prints {"what", "series"}; see tests/bench/README.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/rpc/echo_server.h"
#include "tests/bench/rpc/round_trips.h"
#include "tests/bench/support/child_process.h"

namespace blazed::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Maker = std::function<std::unique_ptr<RoundTrip>()>;

constexpr int kRounds = 12;
constexpr auto kTurn = std::chrono::milliseconds(400);
constexpr int kWarmCalls = 200;

struct Arm {
  std::string name;
  int clients = 1;
  std::vector<std::unique_ptr<RoundTrip>> trips;
  std::vector<double> per_second, median_us;
};

// One client for a turn: how long each call took.
std::vector<double> RunClient(RoundTrip& trip) {
  std::vector<double> took;
  const auto end = Clock::now() + kTurn;
  for (auto before = Clock::now(); before < end;) {
    if (!trip.Once()) Fail("a round trip failed");
    const auto after = Clock::now();
    took.push_back(std::chrono::duration<double, std::micro>(after - before).count());
    before = after;
  }
  return took;
}

void RunTurn(Arm& arm) {
  std::vector<std::future<std::vector<double>>> clients;
  const auto began = Clock::now();
  for (const auto& trip : arm.trips) {
    clients.push_back(std::async(std::launch::async, [&trip] { return RunClient(*trip); }));
  }
  for (const auto& client : clients) client.wait();
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::vector<double> all;
  for (auto& client : clients) {
    const std::vector<double> took = client.get();  // throws what the client met
    all.insert(all.end(), took.begin(), took.end());
  }
  arm.per_second.push_back(static_cast<double>(all.size()) / seconds);
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   all.end());
  arm.median_us.push_back(all[all.size() / 2]);
}

std::vector<Arm> MakeArms(const std::map<std::string, Maker>& kinds) {
  std::vector<Arm> arms;
  for (const auto& [name, make] : kinds) {
    for (int clients : {1, 4}) {
      Arm arm{name, clients, {}, {}, {}};
      for (int i = 0; i < clients; ++i) {
        arm.trips.push_back(make());
        for (int warm = 0; warm < kWarmCalls; ++warm) arm.trips.back()->Once();
      }
      arms.push_back(std::move(arm));
    }
  }
  return arms;
}

nlohmann::json Series(const std::vector<Arm>& arms) {
  nlohmann::json series = nlohmann::json::array();
  const auto label = [](const std::string& name, int clients) {
    return name + ", " + std::to_string(clients) + (clients == 1 ? " client" : " clients");
  };
  for (const Arm& arm : arms) {
    const std::string name = label(arm.name, arm.clients);
    series.push_back({{"arm", name}, {"unit", "1/s"}, {"values", arm.per_second}});
    series.push_back({{"arm", name}, {"unit", "us"}, {"values", arm.median_us}});
  }
  // Round by round, so that what disturbs a round disturbs both sides.
  for (const Arm& ours : arms) {
    if (ours.name.rfind("blazed ", 0) != 0) continue;
    const std::string kind = ours.name.substr(std::strlen("blazed "));
    const auto bare = std::find_if(arms.begin(), arms.end(), [&](const Arm& arm) {
      return arm.name == "echo " + kind && arm.clients == ours.clients;
    });
    std::vector<double> ratios;
    for (int i = 0; i < kRounds; ++i) {
      ratios.push_back(ours.per_second[static_cast<size_t>(i)] /
                       bare->per_second[static_cast<size_t>(i)]);
    }
    series.push_back({{"arm", label(kind + ", blazed over echo", ours.clients)},
                      {"unit", "ratio"},
                      {"values", ratios}});
  }
  return series;
}

int Run(const std::string& self, const std::string& build) {
  TemporaryFolder folder;
  const std::string echo = folder.path() + "/echo", daemon = folder.path() + "/blazed";
  std::ofstream(folder.path() + "/blazed.toml") << "[limits]\nconnections_per_user = 256\n";
  ChildProcess echo_server({self, "--serve-echo", echo}, folder.path() + "/echo.log");
  ChildProcess blazed({build + "/bin/blazed", "--config", folder.path() + "/blazed.toml",
                       "--socket", daemon, "--state", folder.path() + "/state"},
                      folder.path() + "/blazed.log");
  AwaitListener(echo);
  AwaitListener(daemon);
  std::vector<Arm> arms = MakeArms({{"echo unary", [&] { return EchoUnary(echo); }},
                                    {"echo stream", [&] { return EchoStream(echo); }},
                                    {"blazed unary", [&] { return DaemonUnary(daemon); }},
                                    {"blazed stream", [&] { return DaemonStream(daemon); }}});
  std::mt19937_64 chance(std::random_device{}());
  std::vector<Arm*> order;
  for (Arm& arm : arms) order.push_back(&arm);
  for (int round = 0; round < kRounds; ++round) {
    std::shuffle(order.begin(), order.end(), chance);
    for (Arm* arm : order) RunTurn(*arm);
  }
  const nlohmann::json result = {{"what",
                                  "gRPC round trips over a Unix socket: blazed (unary: "
                                  "History.GetStatus) beside a bare "
                                  "callback echo server, grpc++ clients, 12 rounds of "
                                  "0.4 s an arm in drawn order; us is the median of a round"},
                                 {"series", Series(arms)}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--serve-echo") == 0)
    return blazed::bench::ServeEcho(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "--build") == 0) {
    return blazed::bench::Guarded(argv[0],
                                  [&] { return blazed::bench::Run("/proc/self/exe", argv[2]); });
  }
  std::fprintf(stderr, "usage: rpc_bench --build FOLDER\n");
  return 2;
}
