// A/A on the demo's own workload: every plan that is asked for is the default plan under another
// name and with a signature of its own, so nothing can be faster and whatever settles is a false
// settlement. Control runs of the same length, drawn in between, run the plans that were asked for:
// they show that these runs are long enough to settle what is there. Each run has a daemon and a
// store of its own. Prints {"what", "series"}; samples are one value a run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/sim/estimate.h"
#include "client/trainer/demo/private_daemon.h"
#include "client/trainer/job/training_job.h"
#include "kernels/cpu/fault.h"
#include "nlohmann/json.hpp"

namespace blazed::trainer {
namespace {

constexpr int64_t kMostStepsASecond = 1000;
// A search may use 0.65 of a run, and replication the rest. Where nothing is faster a search this
// short ends undecided, often before its first race; --seconds gives it the time for `no_winner`.
constexpr int64_t kSeconds = 20;
constexpr int kRuns = 50, kRunsPerControl = 5;

struct Tally {
  std::map<std::string, std::vector<double>> values;  // by arm
  void Add(const std::string& arm, const Json& job) {
    const auto add = [&](const std::string& what, double value) {
      values[arm + ": " + what].push_back(value);
    };
    add("plan settled", job["settlement"] == "in_job" || job["settlement"] == "replicated");
    add("no winner", job["outcome"] == "no_winner");
    add("undecided", job["outcome"] == "undecided");
    for (const char* count : {"races", "search_pairs", "replication_pairs", "builds"}) {
      add(count, job[count].get<double>());
    }
  }
};

// How many runs of an arm did something, as a share with Wilson's interval: none of 50 is no proof
// of none at all.
Json ShareOfRuns(const std::string& arm, const std::vector<double>& values, bool (*did)(double)) {
  const auto hits = static_cast<uint64_t>(std::count_if(values.begin(), values.end(), did));
  const sim::Estimate share = sim::RateOf(hits, values.size());
  return {{"workload", "attention"}, {"regime", "training"}, {"arm", arm},
          {"unit", "share of runs"}, {"n", share.n},         {"median", share.value},
          {"low", share.low},        {"high", share.high}};
}

// The counts, and of each arm what its runs came to.
Json SeriesOf(const Tally& tally) {
  Json series = Json::array();
  const auto is = [](double value) { return value > 0; };
  const auto is_not = [](double value) { return value == 0; };
  for (const auto& [arm, values] : tally.values) {
    series.push_back({{"workload", "attention"},
                      {"regime", "training"},
                      {"arm", arm},
                      {"unit", "count"},
                      {"values", values}});
    const auto ends = [&arm = arm](const char* what) { return absl::EndsWith(arm, what); };
    if (ends(": plan settled") || ends(": undecided") || ends(": no winner")) {
      series.push_back(ShareOfRuns(arm, values, is));
    }
    if (ends(": races")) series.push_back(ShareOfRuns(arm + ": none at all", values, is_not));
  }
  return series;
}

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

// `same` makes every plan the default.
absl::StatusOr<Json> RunOnce(const std::string& blazed, uint64_t seed, int64_t seconds, bool same) {
  std::string folder = "/tmp/blazed-aa-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr)
    return absl::InternalError("cannot make a folder under /tmp");
  auto daemon = PrivateDaemon::Start(blazed, folder);
  if (!daemon.ok()) return daemon.status();
  TrainOptions options;
  options.until = Until::kSettled;
  options.steps = kMostStepsASecond * seconds;
  options.seconds = seconds;
  options.seed = seed;
  options.socket = daemon->socket();
  Names names;
  JobHooks hooks;
  if (same) hooks.build_options = [&names](fuse::Plan& plan) { return names.Options(plan); };
  Progress progress(
      Display::kPlain, [](absl::string_view) {}, [] { return 100; });
  auto report = RunTrainingJob(options, &progress, hooks);
  if (!report.ok()) return report.status();
  const std::string removal = "rm -rf " + folder;
  if (std::system(removal.c_str()) != 0) return absl::InternalError("cannot remove " + folder);
  return (*report)["jobs"][0];
}

struct Wanted {
  std::string build = ".";
  int runs = kRuns;
  int64_t seconds = kSeconds;
};

int Run(const Wanted& wanted) {
  Tally tally;
  for (int run = 0, same = 0; same < wanted.runs; ++run) {
    const bool control = run % (kRunsPerControl + 1) == kRunsPerControl;
    const auto job = RunOnce(wanted.build + "/bin/blazed", static_cast<uint64_t>(run) + 1,
                             wanted.seconds, !control);
    if (!job.ok()) {
      std::fprintf(stderr, "aa_bench: run %d: %s\n", run + 1, job.status().ToString().c_str());
      return 1;
    }
    same += control ? 0 : 1;
    const std::string arm = control ? "real plans" : "same plan";
    tally.Add(arm, *job);
    std::fprintf(stderr, "%s, %d of %d: %s, %s pairs, %s races\n", arm.c_str(), same, wanted.runs,
                 (*job)["outcome"].get<std::string>().c_str(),
                 (*job)["search_pairs"].dump().c_str(), (*job)["races"].dump().c_str());
  }
  const Json result = {
      {"what",
       absl::StrCat("A/A: the default plan under other names, where every settled plan would be "
                    "false, and control runs with the real plans; runs of at most ",
                    wanted.seconds,
                    " s, one value a run. A run that ends undecided, and most of all one without "
                    "a race, says little of false settlements")},
      {"series", SeriesOf(tally)}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace blazed::trainer

int main(int argc, char** argv) {
  blazed::trainer::Wanted wanted;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--build") {
      wanted.build = value;
    } else if (flag == "--runs") {
      wanted.runs = std::atoi(value);
    } else if (flag == "--seconds") {
      wanted.seconds = std::atoll(value);
    } else {
      std::fprintf(stderr, "usage: aa_bench [--build FOLDER] [--runs N] [--seconds N]\n");
      return 2;
    }
  }
  return blazed::trainer::Run(wanted);
}
