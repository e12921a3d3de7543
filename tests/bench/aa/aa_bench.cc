// A/A on the demo's own workload: every plan that is asked for is the default plan under another
// name and with a signature of its own, so nothing can be faster and whatever settles is a false
// settlement. Each run has a daemon and a store of its own. Prints {"what", "series"}; samples are
// one value a run.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "client/trainer/demo/private_daemon.h"
#include "client/trainer/job/training_job.h"
#include "kernels/cpu/fault.h"
#include "nlohmann/json.hpp"

namespace blazed::trainer {
namespace {

constexpr int kRuns = 50;
constexpr int64_t kMostSteps = 20'000, kMostSeconds = 60;

struct Tally {
  std::map<std::string, std::vector<double>> values;  // by arm
  void Add(const Json& job) {
    values["plan settled"].push_back(job["settlement"] == "in_job" ||
                                     job["settlement"] == "replicated");
    values["no winner"].push_back(job["outcome"] == "no_winner");
    values["undecided"].push_back(job["outcome"] == "undecided");
    for (const char* count : {"races", "search_pairs", "replication_pairs", "builds"}) {
      values[count].push_back(job[count].get<double>());
    }
  }
};

// Keeps the default plan's own decisions whatever is asked, and signs each request differently.
class Names {
 public:
  cpu::BuildOptions Options(fuse::Plan& plan) {
    faults_.push_back({cpu::Fault::Kind::kForgeSignature, graph::Hash128{++named_, 0x5eed}});
    plan.clear();
    cpu::BuildOptions options;
    options.fault = &faults_.back();
    return options;
  }

 private:
  uint64_t named_ = 0;
  std::deque<cpu::Fault> faults_;  // a variant keeps a pointer to its own
};

absl::StatusOr<Json> RunOnce(const std::string& blazed, uint64_t seed) {
  std::string folder = "/tmp/blazed-aa-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr)
    return absl::InternalError("cannot make a folder under /tmp");
  auto daemon = PrivateDaemon::Start(blazed, folder);
  if (!daemon.ok()) return daemon.status();
  TrainOptions options;
  options.until = Until::kSettled;
  options.steps = kMostSteps;
  options.seconds = kMostSeconds;
  options.seed = seed;
  options.socket = daemon->socket();
  Names names;
  JobHooks hooks;
  hooks.build_options = [&names](fuse::Plan& plan) { return names.Options(plan); };
  Progress progress(
      Display::kPlain, [](absl::string_view) {}, [] { return 100; });
  auto report = RunTrainingJob(options, &progress, hooks);
  if (!report.ok()) return report.status();
  const std::string removal = "rm -rf " + folder;
  if (std::system(removal.c_str()) != 0) return absl::InternalError("cannot remove " + folder);
  return (*report)["jobs"][0];
}

int Main(int argc, char** argv) {
  std::string build = ".";
  int runs = kRuns;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--build") build = argv[i + 1];
    if (std::string(argv[i]) == "--runs") runs = std::atoi(argv[i + 1]);
  }
  Tally tally;
  for (int run = 0; run < runs; ++run) {
    const auto job = RunOnce(build + "/bin/blazed", static_cast<uint64_t>(run) + 1);
    if (!job.ok()) {
      std::fprintf(stderr, "aa_bench: run %d: %s\n", run + 1, job.status().ToString().c_str());
      return 1;
    }
    tally.Add(*job);
    std::fprintf(stderr, "run %d of %d: %s, %s pairs\n", run + 1, runs,
                 (*job)["outcome"].get<std::string>().c_str(),
                 (*job)["search_pairs"].dump().c_str());
  }
  Json series = Json::array();
  for (const auto& [arm, values] : tally.values) {
    series.push_back({{"workload", "attention"},
                      {"regime", "training"},
                      {"arm", arm},
                      {"unit", "count"},
                      {"values", values}});
  }
  const Json result = {
      {"what", "A/A: the default plan under other names; every settled plan would be false"},
      {"series", series}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::trainer

int main(int argc, char** argv) { return blazed::trainer::Main(argc, argv); }
