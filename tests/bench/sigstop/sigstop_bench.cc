// Steps of a job whose daemon is stopped by SIGSTOP in the middle of a search, beside steps with a
// session that found no daemon and steps without any session: one process, the arm of each step
// drawn afresh. Prints {"what", "series"}.
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/support/child_process.h"
#include "tests/bench/support/even_host.h"

namespace blazed::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kStepNs = 1'000'000;
constexpr int kBlocks = 30;
constexpr int kStepsPerBlock = 600;  // about 200 an arm
constexpr int kSettleSteps = 500;    // what was lent before the stop is run off
constexpr auto kSearchWithin = std::chrono::seconds(30);

enum Arm : size_t { kPlain, kNoDaemon, kStopped, kArms };
constexpr std::array<const char*, kArms> kNames = {"no session", "session without a daemon",
                                                   "session whose daemon is stopped"};

double Quantile(std::vector<double>& values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

blz_status_info StatusOf(blz_session* session) {
  blz_status_info status{};
  status.struct_size = sizeof(status);
  blz_status(session, &status);
  return status;
}

// Trains until the daemon has directed something, so that it is stopped in the middle of its work.
void TrainIntoTheSearch(EvenHost& host, blz_session* session) {
  const auto give_up = Clock::now() + kSearchWithin;
  while (StatusOf(session).units == 0) {
    if (Clock::now() > give_up) Fail(blz_reason(session));
    host.Step(session);
  }
}

double TimedStep(EvenHost& host, blz_session* session) {
  const auto before = Clock::now();
  host.Step(session);
  return std::chrono::duration<double, std::micro>(Clock::now() - before).count();
}

nlohmann::json Measure(EvenHost& host, const std::array<blz_session*, kArms>& sessions) {
  std::mt19937_64 chance(std::random_device{}());
  std::array<std::vector<double>, kArms> medians, tails;
  std::vector<double> over;  // stopped against no daemon, block by block
  for (int block = 0; block < kBlocks; ++block) {
    std::array<std::vector<double>, kArms> took;
    for (int step = 0; step < kStepsPerBlock; ++step) {
      const size_t arm = chance() % kArms;
      took[arm].push_back(TimedStep(host, sessions[arm]));
    }
    for (size_t arm = 0; arm < kArms; ++arm) {
      medians[arm].push_back(Quantile(took[arm], 0.5));
      tails[arm].push_back(Quantile(took[arm], 0.99));
    }
    over.push_back(100 * (medians[kStopped].back() / medians[kNoDaemon].back() - 1));
  }
  nlohmann::json series = nlohmann::json::array();
  for (size_t arm = 0; arm < kArms; ++arm) {
    series.push_back(
        {{"arm", kNames[arm]}, {"unit", "us median of a block"}, {"values", medians[arm]}});
    series.push_back({{"arm", kNames[arm]}, {"unit", "us p99 of a block"}, {"values", tails[arm]}});
  }
  series.push_back(
      {{"arm", "stopped daemon over no daemon"}, {"unit", "percent"}, {"values", over}});
  return series;
}

int Run(const std::string& build) {
  BenchDaemon daemon(build);
  EvenHost host(EvenHost::Calibrate(kStepNs));
  const blz_host_ops ops = host.Ops();
  std::array<blz_session*, kArms> sessions{};
  const blz_options off = host.Options(daemon.nowhere()), on = host.Options(daemon.socket());
  if (blz_attach(&off, &ops, &sessions[kNoDaemon]) != BLZ_OFF) Fail("attached where no daemon is");
  if (blz_attach(&on, &ops, &sessions[kStopped]) != BLZ_OK) Fail(blz_reason(sessions[kStopped]));
  host.Describe(sessions[kNoDaemon], 4);
  host.Describe(sessions[kStopped], 4);
  TrainIntoTheSearch(host, sessions[kStopped]);
  kill(daemon.pid(), SIGSTOP);
  for (int i = 0; i < kSettleSteps; ++i) host.Step(sessions[kStopped]);
  const nlohmann::json series = Measure(host, sessions);
  kill(daemon.pid(), SIGCONT);
  for (blz_session* session : sessions) blz_close(session);
  const nlohmann::json result = {{"what",
                                  "steps of a fixed 1 ms of arithmetic; the daemon was stopped by "
                                  "SIGSTOP in the middle of a search; 30 blocks of "
                                  "600 steps, the arm of each step drawn at random"},
                                 {"series", series}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::bench

int main(int argc, char** argv) {
  return blazed::bench::RunWithBuild(argc, argv, blazed::bench::Run);
}
