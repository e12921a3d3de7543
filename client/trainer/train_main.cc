// blaze-train: the reference host. Trains a small model on this machine while blazed tunes its
// plan.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/trainer/job/training_job.h"
#include "client/trainer/options.h"
#include "client/trainer/progress.h"
#include "client/trainer/report/atomic_file.h"
#include "client/trainer/report/text_report.h"
#include "client/trainer/signals.h"
#include "client/trainer/terminal.h"

namespace blazed::trainer {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int Fail(const absl::Status& status, int code) {
  WriteText(STDERR_FILENO, absl::StrCat("blaze-train: ", status.message(), "\n"));
  return code;
}

int Run(const TrainOptions& options) {
  const Display display = DisplayOf(STDOUT_FILENO);
  Progress progress(
      display, [](absl::string_view text) { WriteText(STDOUT_FILENO, text); },
      [] { return ColumnsOf(STDOUT_FILENO, kPlainColumns); });
  if (display == Display::kLive) HideCursor(STDOUT_FILENO);
  const absl::StatusOr<Json> report = RunTrainingJob(options, &progress);
  if (display == Display::kLive) ShowCursor(STDOUT_FILENO);
  if (!report.ok()) {
    return Fail(report.status(), absl::IsInvalidArgument(report.status()) ? kWrongUsage : kFailed);
  }
  // Lost text must not cost the file as well.
  const absl::Status printed =
      PrintText(absl::StrCat("\n", RenderReport(*report, ColumnsOf(STDOUT_FILENO, kPlainColumns))));
  if (!options.report.empty()) {
    const absl::Status written = WriteAtomically(
        options.report, report->dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    if (!written.ok()) return Fail(written, kFailed);
  }
  return printed.ok() ? 0 : Fail(printed, kFailed);
}

}  // namespace
}  // namespace blazed::trainer

int main(int argc, char** argv) {
  using namespace blazed::trainer;
  const auto parsed = ParseTrainCommandLine(argc, argv);
  if (const Ending* ending = std::get_if<Ending>(&parsed)) {
    return PrintEnding("blaze-train", *ending);
  }
  InstallSignals();
  return Run(std::get<TrainOptions>(parsed));
}
