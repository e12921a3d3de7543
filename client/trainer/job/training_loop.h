#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "blazed/blazed.hpp"
#include "client/trainer/host/executor_host.h"
#include "client/trainer/job/facts.h"
#include "client/trainer/options.h"
#include "client/trainer/progress.h"

namespace blazed::trainer {

// Seen after every step; tests use it to watch or to disturb a run. Returns false to end the run
// as a signal would.
using StepObserver = std::function<bool(int64_t step, float loss)>;

// Trains: batch, StepBegin, run, StepEnd, until the steps, the seconds or the answer are reached or
// a signal asks for an end. `session` may be off or null. Errors: a batch the graph cannot take.
absl::StatusOr<RunFacts> Train(const TrainOptions& options, ExecutorHost* host, Session* session,
                               Progress* progress, const StepObserver& observer = nullptr);

// What the shim says, copied out. `space` names the champion's options.
SessionFacts LookAt(const Session& session, const fuse::DecisionSpace& space);

}  // namespace blazed::trainer
