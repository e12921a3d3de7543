#include "client/trainer/demo/demo.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/trainer/demo/child_process.h"
#include "client/trainer/demo/private_daemon.h"
#include "client/trainer/demo/private_place.h"
#include "client/trainer/demo/signal_stream.h"
#include "client/trainer/report/atomic_file.h"
#include "client/trainer/report/merge_reports.h"
#include "client/trainer/report/text_report.h"
#include "client/trainer/stopwatch.h"
#include "client/trainer/terminal.h"

namespace blazed::trainer {
namespace {

// Of the time that is left, what the first job may take: a served job needs little.
constexpr double kFirstShare = 0.8;
constexpr int64_t kLeastSeconds = 5;

constexpr int kWrongUsage = 2;  // a job's exit code

// Where a line is lost the jobs go on; what they found is checked at the end.
void Say(absl::string_view text) { WriteText(STDOUT_FILENO, absl::StrCat(text, "\n")); }

absl::StatusOr<std::string> OwnFolder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot find this program's folder: ", error.message()));
  }
  return program.parent_path().string();
}

// One demo between its parts.
class Demo {
 public:
  Demo(const DemoOptions& options, std::string programs, PrivatePlace place)
      : options_(options), programs_(std::move(programs)), place_(std::move(place)) {}

  absl::Status Run();

 private:
  // Runs one job to its end and loads its report.
  absl::StatusOr<Json> RunJob(const char* role, PrivateDaemon* daemon, int64_t seconds);
  int64_t SecondsLeft() const;
  absl::Status Conclude(const std::vector<Json>& reports);

  const DemoOptions& options_;
  const std::string programs_;
  const PrivatePlace place_;
  const Stopwatch watch_;
  SignalStream signals_;
};

int64_t Demo::SecondsLeft() const {
  const double left = options_.minutes * 60 - absl::ToDoubleSeconds(watch_.Elapsed());
  return std::max(kLeastSeconds, static_cast<int64_t>(left));
}

absl::StatusOr<Json> Demo::RunJob(const char* role, PrivateDaemon* daemon, int64_t seconds) {
  const std::string report = place_.At(absl::StrCat(role, ".json"));
  ChildCommand command;
  command.arguments = {programs_ + "/blaze-train",
                       "--workload",
                       options_.workload,
                       "--contract",
                       options_.contract,
                       "--seed",
                       absl::StrCat(options_.seed),
                       "--steps",
                       absl::StrCat(options_.steps),
                       "--seconds",
                       absl::StrCat(seconds),
                       "--until",
                       "settled",
                       "--plan",
                       "tune",
                       "--role",
                       role,
                       "--job",
                       "demo",
                       "--socket",
                       daemon->socket(),
                       "--report",
                       report};
  for (const std::string& text : options_.texts) {
    command.arguments.insert(command.arguments.end(), {"--text", text});
  }
  Say(absl::StrCat("== ", role, " job"));
  auto child = ChildProcess::Start(command);
  if (!child.ok()) return child.status();
  signals_.WaitFor(&*child);
  if (child->exit_code() == kWrongUsage) {
    // The job has said what is wrong; its flags are this program's.
    return absl::InvalidArgumentError(absl::StrCat("the ", role, " job refuses; see --help"));
  }
  if (child->exit_code() != 0) {
    return absl::AbortedError(absl::StrCat("the ", role, " job ", child->HowItEnded()));
  }
  if (absl::Status status = daemon->Check(); !status.ok()) return status;
  return LoadReport(report);
}

absl::Status Demo::Conclude(const std::vector<Json>& reports) {
  const Json merged = MergeReports(reports);
  absl::Status printed;
  if (reports.size() == 2) {
    printed = PrintText(
        absl::StrCat("\n",
                     RenderComparison(ReadJob(merged["jobs"][0]), ReadJob(merged["jobs"][1]),
                                      ColumnsOf(STDOUT_FILENO, kPlainColumns)),
                     "\n"));
  }
  if (options_.keep == Keep::kYes) Say(absl::StrCat("store and log are kept in ", place_.path()));
  if (options_.report.empty()) return printed;
  const absl::Status written = WriteAtomically(
      options_.report, merged.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!written.ok()) return written;
  Say(absl::StrCat("report: ", options_.report));
  return printed;
}

absl::Status Demo::Run() {
  auto daemon = PrivateDaemon::Start(programs_ + "/blazed", place_.path());
  if (!daemon.ok()) return daemon.status();
  const absl::Status interrupted =
      absl::CancelledError("interrupted; the report holds the jobs that ended");
  std::vector<Json> reports;
  const auto first_seconds = std::max(
      kLeastSeconds, static_cast<int64_t>(kFirstShare * static_cast<double>(SecondsLeft())));
  auto first = RunJob("first", &*daemon, first_seconds);
  if (!first.ok()) return first.status();
  reports.push_back(*std::move(first));
  if (!signals_.Asked()) {
    Say("");
    auto second = RunJob("second", &*daemon, SecondsLeft());
    if (!second.ok()) return second.status();
    reports.push_back(*std::move(second));
  }
  absl::Status concluded = Conclude(reports);
  if (absl::Status status = daemon->Check(); !status.ok()) return status;
  daemon->Stop();
  return signals_.Asked() && concluded.ok() ? interrupted : concluded;
}

}  // namespace

absl::Status RunDemo(const DemoOptions& options) {
  if (!options.report.empty()) {
    if (absl::Status status = CheckWritable(options.report); !status.ok()) return status;
  }
  auto programs = OwnFolder();
  if (!programs.ok()) return programs.status();
  auto place = PrivatePlace::Make(options.keep);
  if (!place.ok()) return place.status();
  return Demo(options, *std::move(programs), *std::move(place)).Run();
}

}  // namespace blazed::trainer
