#pragma once

#include "absl/status/statusor.h"
#include "client/trainer/host/executor_host.h"
#include "client/trainer/job/training_loop.h"
#include "client/trainer/options.h"
#include "client/trainer/progress.h"
#include "client/trainer/report/job_report.h"

namespace blazed::trainer {

// Seams for tests; programs leave both empty.
struct JobHooks {
  BuildOptionsOf build_options;
  StepObserver after_step;
};

// Everything one blaze-train does between its command line and its report: reads the text, builds
// the workload, attaches, trains, fetches the daemon's report and puts both together.
//
// Errors, each one sentence with the caller's move: INVALID_ARGUMENT for a name or size that is
// wrong usage, everything else for what failed. A daemon that is absent, slow or hostile is no
// error: the job trains on and the report says so.
absl::StatusOr<Json> RunTrainingJob(const TrainOptions& options, Progress* progress,
                                    const JobHooks& hooks = {});

}  // namespace blazed::trainer
