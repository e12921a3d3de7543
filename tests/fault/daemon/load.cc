#include "tests/fault/daemon/load.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/fault/daemon/history_client.h"

namespace blazed::fault {
namespace {

constexpr size_t kWorkers = 4;
constexpr size_t kOfOneWorkload = 2;  // the first of them
constexpr auto kBetweenQuestions = std::chrono::milliseconds(5);

}  // namespace

Load::Load(std::string socket, std::string name, uint64_t seed, Announced& announced)
    : socket_(std::move(socket)), name_(std::move(name)), announced_(announced) {
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    threads_.emplace_back([this, worker, seed] { Work(worker, seed + worker); });
  }
  threads_.emplace_back([this] { Ask(); });
}

Load::~Load() {
  ExpectDeath();
  Join();
}

std::vector<std::string> Load::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return std::exchange(failures_, {});
}

Job Load::Draw(size_t worker, size_t number, std::mt19937_64& random) const {
  if (number % 3 == 2) {
    if (const auto settled = announced_.Any(random)) return settled->job;
  }
  if (worker < kOfOneWorkload) return {absl::StrCat(name_, "/common/", number), "cpu"};
  return {absl::StrCat(name_, "/", worker, "/", number),
          absl::StrFormat("GPU-00000000-0000-0000-0000-%012d", worker)};
}

void Load::Work(size_t worker, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t number = 0; !dying_; ++number) {
    const Job job = Draw(worker, number, random);
    fakes::ScriptedShim shim(socket_, HostOf(job.workload), random());
    Prepare(job, &shim);
    shim.before_answer = [&](const v1::DaemonMessage& message) {
      if (message.has_adopt() && message.adopt().settlement_id() != 0) {
        announced_.Adopted(job, message.adopt());
      }
      return true;
    };
    if (!shim.RunJob()) {
      return Fail(absl::StrCat("job ", job.workload, ": ", shim.Finish().error_message()));
    }
    shim.Bye();
    shim.Finish();
  }
}

void Load::Ask() {
  const HistoryClient history(socket_);
  while (!dying_) {
    const auto rows = history.Settlements();
    if (!rows) return Fail("History did not list the settlements");
    for (const v1::SettlementRow& row : *rows) announced_.Listed(row);
    if (!rows->empty()) {
      const auto reply = history.Explain(rows->front().workload());
      if (!reply) return Fail("History did not explain a settlement");
      announced_.Explained(*reply);
    }
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

void Load::Fail(std::string what) {
  if (dying_) return;
  std::lock_guard lock(mutex_);
  failures_.push_back(std::move(what));
}

}  // namespace blazed::fault
