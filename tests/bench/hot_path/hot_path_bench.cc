// What blz_step_begin and blz_step_end cost a step: without a session, off, exploring (outside
// builds and probes) and settled. All plans of the host take the same time, so the daemon explores
// and settles for the default.
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

constexpr uint64_t kStepNs = 50'000;
constexpr uint32_t kDecisions = 2;
constexpr size_t kExploringBlock = 250;
constexpr size_t kExploringBlocks = 30;
// On a noisy machine a search may end undecided; the next workload is new to the daemon.
constexpr auto kSettleWithin = std::chrono::seconds(40);
constexpr auto kPatience = std::chrono::minutes(8);
constexpr int kBlocks = 30;
constexpr int kCallsPerBlock = 200'000;

double NsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

blz_status_info StatusOf(blz_session* session) {
  blz_status_info status{};
  status.struct_size = sizeof(status);
  blz_status(session, &status);
  return status;
}

// What reading the clock adds to a measured interval.
double ClockCost() {
  constexpr int kReads = 100'000;
  const auto before = Clock::now();
  for (int i = 0; i < kReads; ++i) (void)Clock::now();
  return NsBetween(before, Clock::now()) / kReads;
}

// Means of blocks of steps that ran units and in which nothing was built or probed.
class ExploringCost {
 public:
  bool Enough() const { return blocks_.size() >= kExploringBlocks; }
  const std::vector<double>& blocks() const { return blocks_; }

  void Add(double ns) {
    sum_ += ns;
    if (++steps_ < kExploringBlock) return;
    blocks_.push_back(sum_ / static_cast<double>(steps_));
    sum_ = 0;
    steps_ = 0;
  }

 private:
  std::vector<double> blocks_;
  double sum_ = 0;
  size_t steps_ = 0;
};

bool Explores(blz_phase phase) {
  return phase >= BLZ_PHASE_FORECAST && phase <= BLZ_PHASE_REPLICATE;
}

// Whether the step between ran a unit of a lease, and nothing was built or probed in it. Steps that
// only wait for the daemon's next word explore nothing.
bool RanAUnit(const blz_status_info& before, const blz_status_info& after) {
  return Explores(before.phase) && Explores(after.phase) && after.units > before.units &&
         after.variants_built == before.variants_built && after.probes == before.probes;
}

// Trains until the session is settled; false where it ends otherwise or not in time.
bool Explore(EvenHost& host, blz_session* session, ExploringCost* cost) {
  const double clock_ns = ClockCost();
  const auto give_up = Clock::now() + kSettleWithin;
  blz_status_info before = StatusOf(session);
  while (before.settled == 0 && before.phase != BLZ_PHASE_SETTLED) {
    const auto a = Clock::now();
    blz_step_begin(session);
    const auto b = Clock::now();
    host.Work();
    const auto c = Clock::now();
    blz_step_end(session, 0);
    const auto d = Clock::now();
    const blz_status_info after = StatusOf(session);
    if (RanAUnit(before, after)) cost->Add(NsBetween(a, b) + NsBetween(c, d) - 2 * clock_ns);
    before = after;
    // After an undecided end the default stands, and steps explore no more.
    if (after.phase == BLZ_PHASE_STANDING || d > give_up) return false;
  }
  return true;
}

double CallsNs(blz_session* session) {
  const auto before = Clock::now();
  for (int i = 0; i < kCallsPerBlock; ++i) {
    blz_step_begin(session);
    blz_step_end(session, 0);
  }
  return NsBetween(before, Clock::now()) / kCallsPerBlock;
}

int Run(const std::string& build) {
  BenchDaemon daemon(build);
  EvenHost host(EvenHost::Calibrate(kStepNs));
  const blz_host_ops ops = host.Ops();
  const blz_options on = host.Options(daemon.socket()), off = host.Options(daemon.nowhere());
  blz_session *settled = nullptr, *absent = nullptr;
  blz_attach(&off, &ops, &absent);
  ExploringCost exploring;
  bool found = false;
  const auto give_up = Clock::now() + kPatience;
  // A search over so few plans is short: each of these workloads is new to the daemon.
  for (uint32_t workload = 1; !found || !exploring.Enough(); ++workload) {
    if (Clock::now() > give_up) {
      Fail(std::string("the searches end undecided, so the machine is too noisy: run it again when "
                       "less else runs; last reason: ") +
           blz_reason(settled));
    }
    if (settled != nullptr) blz_close(settled);
    if (blz_attach(&on, &ops, &settled) != BLZ_OK) Fail(blz_reason(settled));
    host.Describe(settled, kDecisions, workload);
    found = Explore(host, settled, &exploring);
  }

  const std::array<blz_session*, 3> sessions = {nullptr, absent, settled};
  const std::array<const char*, 3> names = {"no session", "session without a daemon",
                                            "settled session"};
  std::array<std::vector<double>, 3> ns;
  std::array<size_t, 3> order = {0, 1, 2};
  std::mt19937_64 chance(std::random_device{}());
  for (int block = 0; block < kBlocks; ++block) {
    std::shuffle(order.begin(), order.end(), chance);
    for (size_t arm : order) ns[arm].push_back(CallsNs(sessions[arm]));
  }
  nlohmann::json series = nlohmann::json::array();
  series.push_back({{"arm", "exploring, outside builds and probes"},
                    {"unit", "ns a step"},
                    {"values", exploring.blocks()}});
  for (size_t arm = 0; arm < names.size(); ++arm) {
    series.push_back({{"arm", names[arm]}, {"unit", "ns a step"}, {"values", ns[arm]}});
  }
  for (blz_session* session : {settled, absent}) blz_close(session);
  const nlohmann::json result = {
      {"what",
       "blz_step_begin and blz_step_end together; exploring: means of "
       "250 steps of 50 us that ran a unit; else means of 200,000 calls, "
       "30 blocks an arm in drawn order"},
      {"series", series}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::bench

int main(int argc, char** argv) {
  return blazed::bench::RunWithBuild(argc, argv, blazed::bench::Run);
}
