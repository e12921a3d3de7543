#include "tests/fault/daemon/kill_rounds.h"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tests/fakes/private_daemon.h"
#include "tests/fault/daemon/announced.h"
#include "tests/fault/daemon/history_client.h"
#include "tests/fault/daemon/load.h"
#include "tests/fault/daemon/store_check.h"

namespace blazed::fault {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kRoundsPerStore = 25;
constexpr int kFirstStarts = 2;       // rounds of a fresh store that end while it is made
constexpr double kLoadMs = 900;       // a kill under load comes within it
constexpr double kAnnouncedMs = 3;    // one after an announcement within this
constexpr size_t kMostAdopts = 6;     // after this many at the latest
constexpr double kStartMs = 120;      // assumed until a start was seen
constexpr double kStartMargin = 1.2;  // some kills come just after READY
constexpr size_t kServedAgain = 2;    // earlier settlements that are served once more, a round

double Uniform(std::mt19937_64& random, double most) {
  return std::uniform_real_distribution<double>(0, most)(random);
}

void SleepMs(double ms) { std::this_thread::sleep_for(Milliseconds(ms)); }

// One store and all daemons that ever ran on it.
class Rounds {
 public:
  Rounds(std::string folder, std::mt19937_64& random, KillReport& report)
      : folder_(std::move(folder)), random_(random), report_(report) {
    fs::create_directories(folder_ + "/locks");
    config_ = folder_ + "/blazed.toml";
    std::ofstream(config_) << QuickSettlingConfig(folder_ + "/locks");
  }

  void Kill(int number);
  // A last daemon, which ends in order.
  void Close();

 private:
  using Daemon = fakes::PrivateDaemon;

  std::unique_ptr<Daemon> Start() {
    return std::make_unique<Daemon>(folder_, std::vector<std::string>{"--config", config_});
  }
  bool AwaitReady(Daemon& daemon, Clock::time_point began);
  Moment Draw(int number);
  void LoadAndKill(Daemon& daemon, KillRound& round);
  void CheckFiles(KillRound& round);
  void CheckAnswers(Daemon& daemon, KillRound& round);
  void CheckServed(const Daemon& daemon, const Told& told, KillRound& round);
  void Fail(const std::string& what) {
    report_.failures.push_back(
        absl::StrCat("round ", report_.rounds.size(), " of ", folder_, ": ", what));
  }

  const std::string folder_;
  std::string config_;
  std::mt19937_64& random_;
  KillReport& report_;
  Announced announced_;
  double start_ms_ = kStartMs;
  uint64_t epoch_ = 0;
  bool was_killed_ = false;
};

Moment Rounds::Draw(int number) {
  if (number < kFirstStarts) return Moment::kStarting;
  switch (random_() % 5) {
    case 0:
      return Moment::kStarting;
    case 1:
    case 2:
      return Moment::kUnderLoad;
    default:
      return Moment::kAfterAnnouncement;
  }
}

bool Rounds::AwaitReady(Daemon& daemon, Clock::time_point began) {
  if (!daemon.WaitReady()) {
    Fail(absl::StrCat("the daemon did not start: ", daemon.Log()));
    return false;
  }
  start_ms_ = Milliseconds(Clock::now() - began).count();
  if (was_killed_) report_.ready_ms.push_back(start_ms_);
  return true;
}

void Rounds::Kill(int number) {
  KillRound round;
  round.moment = Draw(number);
  const Clock::time_point began = Clock::now();
  std::unique_ptr<Daemon> daemon = Start();
  if (round.moment == Moment::kStarting) {
    round.delay_ms = Uniform(random_, kStartMargin * start_ms_);
    SleepMs(round.delay_ms);
    daemon->Kill();
  } else if (AwaitReady(*daemon, began)) {
    CheckAnswers(*daemon, round);
    LoadAndKill(*daemon, round);
  }
  daemon.reset();
  was_killed_ = true;
  CheckFiles(round);
  report_.rounds.push_back(round);
}

void Rounds::LoadAndKill(Daemon& daemon, KillRound& round) {
  const bool at_once = random_() % 2 == 0;
  const size_t number = 1 + random_() % kMostAdopts;
  Load load(daemon.socket(), absl::StrCat("round-", report_.rounds.size()), random_(), announced_);
  const auto kill = [&] {
    load.ExpectDeath();
    daemon.Signal(SIGKILL);
  };
  if (round.moment == Moment::kUnderLoad) {
    round.delay_ms = Uniform(random_, kLoadMs);
    SleepMs(round.delay_ms);
  } else {
    round.delay_ms = at_once ? 0 : Uniform(random_, kAnnouncedMs);
    announced_.StartCounting(number, at_once ? std::function<void()>(kill) : nullptr);
    if (!announced_.AwaitCounted()) Fail("no job settles");
    if (!at_once) SleepMs(round.delay_ms);
  }
  kill();
  daemon.Join();
  for (const std::string& failure : load.Join()) Fail(failure);
}

void Rounds::CheckFiles(KillRound& round) {
  round.announced = announced_.size();
  const StoreFinding found = CheckStore(folder_ + "/state", folder_ + "/scratch");
  for (const std::string& fault : found.faults) Fail(fault);
  const std::vector<std::string> missing = announced_.MissingFrom(found.settlements);
  round.lost = missing.size();
  for (const std::string& what : missing) Fail("in the files: " + what);
}

void Rounds::CheckAnswers(Daemon& daemon, KillRound& round) {
  const HistoryClient history(daemon.socket());
  const auto status = history.Status();
  const auto rows = history.Settlements();
  if (!status || !rows) return Fail("History does not answer");
  if (status->store_state() != "ok" || !status->store_detail().empty()) {
    Fail(absl::StrCat("the store is ", status->store_state(), ": ", status->store_detail()));
  }
  if (status->daemon_epoch() <= epoch_) Fail("the epoch did not grow");
  epoch_ = status->daemon_epoch();
  if (fs::exists(folder_ + "/state/quarantine")) Fail("a database was put aside");
  for (const std::string& what : announced_.MissingFrom(*rows)) Fail("in the answers: " + what);
  std::vector<Told> asked = announced_.TakeFresh();
  for (size_t i = 0; i < kServedAgain; ++i) {
    if (auto told = announced_.Any(random_)) asked.push_back(*std::move(told));
  }
  for (const Told& told : asked) CheckServed(daemon, told, round);
}

void Rounds::CheckServed(const Daemon& daemon, const Told& told, KillRound& round) {
  const fakes::SyntheticHost host = HostOf(told.job.workload);
  fakes::ScriptedShim shim(daemon.socket(), host, random_());
  Prepare(told.job, &shim);
  const std::string name = absl::StrCat("settlement ", told.settlement);
  if (!shim.RunJob()) {
    return Fail(absl::StrCat(name, " is not served: ", shim.Finish().error_message()));
  }
  const fakes::ScriptedResult& result = shim.result();
  if (result.settled->settlement_id() != told.settlement ||
      fakes::FromProto(result.settled->plan()) != told.plan) {
    Fail(absl::StrCat(name, " is served as ", result.settled->ShortDebugString()));
  }
  if (result.pairs + result.noise_pairs != 0) Fail(absl::StrCat(name, " is served after pairs"));
  shim.Bye();
  shim.Finish();
  const auto reply =
      HistoryClient(daemon.socket()).Explain(absl::BytesToHexString(host.Workload().fingerprint()));
  if (!reply) return Fail(absl::StrCat(name, " is not explained"));
  for (const std::string& what : announced_.DifferencesFrom(*reply)) Fail(what);
  ++round.served;
}

void Rounds::Close() {
  const Clock::time_point began = Clock::now();
  std::unique_ptr<Daemon> daemon = Start();
  KillRound none;
  if (!AwaitReady(*daemon, began)) return;
  CheckAnswers(*daemon, none);
  if (!report_.rounds.empty()) report_.rounds.back().served += none.served;
  if (const int code = daemon->Stop(); code != 0) {
    Fail(absl::StrCat("an orderly stop ends with ", code, ": ", daemon->Log()));
  }
}

}  // namespace

KillReport RunKillRounds(const KillOptions& options) {
  KillReport report;
  std::mt19937_64 random(options.seed);
  for (int done = 0; done < options.rounds && report.failures.empty();) {
    Rounds rounds(absl::StrCat(options.folder, "/", done), random, report);
    for (int i = 0; i < kRoundsPerStore && done < options.rounds && report.failures.empty();
         ++i, ++done) {
      rounds.Kill(i);
    }
    if (report.failures.empty()) rounds.Close();
  }
  return report;
}

}  // namespace blazed::fault
