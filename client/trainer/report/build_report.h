#pragma once

#include <string>
#include <vector>

#include "client/trainer/host/executor_host.h"
#include "client/trainer/job/facts.h"
#include "client/trainer/options.h"
#include "client/trainer/report/job_report.h"
#include "client/trainer/workloads/workload.h"

namespace blazed::trainer {

// The whole report of one run. What the daemon knows comes from its own report; where it gave none
// (no daemon, or it went away), the shim's and the host's counts stand in, and the outcome says
// what is known and no more. Always passes CheckReport.
Json BuildReport(const TrainOptions& options, const workloads::Workload& workload,
                 const RunFacts& run, const SessionFacts& session,
                 const std::vector<BuildStory>& builds);

}  // namespace blazed::trainer
