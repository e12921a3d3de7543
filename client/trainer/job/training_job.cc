#include "client/trainer/job/training_job.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "blazed_version.h"
#include "client/trainer/format.h"
#include "client/trainer/host/describe.h"
#include "client/trainer/report/atomic_file.h"
#include "client/trainer/report/build_report.h"
#include "client/trainer/signals.h"
#include "client/trainer/text.h"
#include "client/trainer/workloads/corpus.h"
#include "client/trainer/workloads/workload.h"

namespace blazed::trainer {
namespace {

// Training is over, so nobody but the reader waits; a busy machine may need some seconds for a
// large search. Whoever ends the job by a signal waits for its end. The first wait is as long as a
// restart of the daemon may take.
constexpr uint32_t kReportSoonMs = 2'000;
constexpr uint32_t kReportLateMs = 9'000;
constexpr uint64_t kMib = uint64_t{1} << 20;

absl::StatusOr<workloads::Workload> MakeWorkload(const TrainOptions& options) {
  workloads::WorkloadOptions sizes;
  sizes.width = options.width;
  sizes.seq = options.seq;
  sizes.batch = options.batch;
  sizes.layers = options.layers;
  sizes.heads = options.heads;
  sizes.threads = options.threads;
  sizes.seed = options.seed;
  sizes.regime =
      options.regime == Regime::kTraining ? graph::Regime::kTraining : graph::Regime::kForward;
  absl::StatusOr<workloads::Workload> workload = workloads::Make(options.workload, sizes);
  if (!workload.ok()) return workload;
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  absl::Status fits = workloads::CheckMemory(*workload, pages * page_bytes);
  if (!fits.ok()) return fits;
  return workload;
}

absl::StatusOr<workloads::Corpus> ReadCorpus(const TrainOptions& options, int64_t minimum) {
  std::vector<std::string> paths = options.texts;
  if (paths.empty()) {
    auto found = TextsIn(kDefaultTextFolder);
    if (!found.ok()) return found.status();
    paths = *std::move(found);
  }
  auto text = ReadTexts(paths);
  if (!text.ok()) return text.status();
  auto corpus = workloads::Corpus::FromText(*text, minimum);
  if (corpus.ok()) return corpus;
  // Not wrong usage: the flags are fine, the text is not.
  return absl::FailedPreconditionError(
      absl::StrCat(corpus.status().message(), "; name a longer text with --text"));
}

blz_mode ModeOf(const TrainOptions& options) {
  switch (options.plan) {
    case PlanMode::kOff:
    case PlanMode::kNone:
      return BLZ_MODE_OFF;
    case PlanMode::kDefault:
      return BLZ_MODE_OBSERVE;
    case PlanMode::kTune:
      return BLZ_MODE_TUNE_UNTIL;
    case PlanMode::kPinned:
      return BLZ_MODE_PINNED;
  }
  return BLZ_MODE_OFF;
}

blz_contract ContractOf(Contract contract) {
  switch (contract) {
    case Contract::kBitwise:
      return BLZ_CONTRACT_BITWISE;
    case Contract::kRounding:
      return BLZ_CONTRACT_ROUNDING;
    case Contract::kPrediction:
      return BLZ_CONTRACT_PREDICTION;
  }
  return BLZ_CONTRACT_DEFAULT;
}

Session Attach(const TrainOptions& options, ExecutorHost* host) {
  const auto environment = DescribeEnvironment(options.threads);
  std::vector<blz_label> labels;
  for (const auto& [key, value] : environment) labels.push_back({key.c_str(), value.c_str()});
  blz_options out = Session::DefaultOptions();
  out.socket = options.socket.empty() ? nullptr : options.socket.c_str();
  out.mode = ModeOf(options);
  out.contract = ContractOf(options.contract);
  // The job's end is known, so the daemon can say beforehand what it can resolve until then.
  out.tune_until_steps = static_cast<uint64_t>(options.steps);
  out.tune_until_ns = static_cast<uint64_t>(options.seconds) * 1'000'000'000u;
  out.job = options.job.empty() ? nullptr : options.job.c_str();
  out.host_name = "blaze-train " BLAZED_VERSION;
  out.device = "cpu";
  out.environment = labels.data();
  out.environment_count = labels.size();
  out.extra_memory_bytes = static_cast<uint64_t>(options.extra_memory_mib) * kMib;
  return Session(out, host);
}

std::string Greeting(const TrainOptions& options, const workloads::Workload& workload,
                     const std::optional<workloads::Corpus>& corpus) {
  std::string text = absl::StrCat(workload.name, ", ", std::string(NameOf(options.regime)),
                                  ", width ", workload.options.width);
  if (workloads::NeedsText(workload)) absl::StrAppend(&text, ", sequence ", workload.options.seq);
  absl::StrAppend(&text, ", batch ", workload.options.batch, ", ",
                  Counted(static_cast<int64_t>(workload.space.decisions.size()), "decision"), " (",
                  Counted(BoundaryCount(workload.space), "boundary"), ")");
  if (corpus) absl::StrAppend(&text, ", ", CountText(corpus->size()), " characters of text");
  return text;
}

// Only a call that ran out of time is worth another: any other answer stays what it is. A daemon
// that was never met has no report.
std::string FetchReport(Session& session, bool met, Stopped stopped, Progress* progress) {
  blz_result result = BLZ_OFF;
  std::string json = session.ReportJson(kReportSoonMs, &result);
  if (result != BLZ_TIMEOUT || !met || stopped == Stopped::kSignal || EndAsked() != 0) return json;
  progress->Say("waiting for the daemon's report, at most 9 s more");
  return session.ReportJson(kReportLateMs);
}

// Trains under a session and reports what both sides saw.
absl::StatusOr<Json> TrainAndReport(const TrainOptions& options,
                                    const workloads::Workload& workload, ExecutorHost* host,
                                    Progress* progress, const JobHooks& hooks) {
  std::optional<Session> session;
  if (ModeOf(options) != BLZ_MODE_OFF) {
    session = Attach(options, host);
    Describe(workload, *host, &*session);
    if (const std::string reason = session->Reason(); !reason.empty()) {
      progress->Say(absl::StrCat("blazed: ", reason));
    }
  }
  auto run = Train(options, host, session ? &*session : nullptr, progress, hooks.after_step);
  if (!run.ok()) return run.status();
  SessionFacts facts;
  if (session) {
    facts = LookAt(*session, workload.space);
    facts.daemon_report = FetchReport(*session, facts.attached, run->stopped, progress);
  }
  return BuildReport(options, workload, *run, facts, host->builds());
}

}  // namespace

absl::StatusOr<Json> RunTrainingJob(const TrainOptions& options, Progress* progress,
                                    const JobHooks& hooks) {
  if (options.device == Device::kCuda) {
    return absl::UnimplementedError(
        "this build has no CUDA device engine; train with --device cpu");
  }
  if (!options.report.empty()) {
    if (absl::Status status = CheckWritable(options.report); !status.ok()) return status;
  }
  auto workload = MakeWorkload(options);
  if (!workload.ok()) return workload.status();
  std::optional<workloads::Corpus> corpus;
  if (workloads::NeedsText(*workload)) {
    auto read = ReadCorpus(options, workloads::MinimumText(*workload));
    if (!read.ok()) return read.status();
    corpus = *std::move(read);
  } else if (!options.texts.empty()) {
    progress->Say(
        absl::StrCat("the workload ", workload->name, " trains on no text; --text is not read"));
  }
  auto batches = workloads::MakeBatches(*workload, corpus ? &*corpus : nullptr);
  if (!batches.ok()) return absl::InternalError(batches.status().message());
  const fuse::Plan base = options.plan == PlanMode::kNone ? AllCut(workload->space) : fuse::Plan{};
  auto host = ExecutorHost::Create(*workload, batches->get(), base, hooks.build_options);
  if (!host.ok()) {
    return absl::InternalError(
        absl::StrCat("cannot build the ", workload->name, " model: ", host.status().message()));
  }
  progress->Say(Greeting(options, *workload, corpus));
  return TrainAndReport(options, *workload, host->get(), progress, hooks);
}

}  // namespace blazed::trainer
