#pragma once

#include <string>

#include "client/trainer/job/training_job.h"
#include "client/trainer/options.h"

namespace blazed::trainer {

// A chain small enough for a test to run thousands of steps.
TrainOptions SmallChain(const std::string& socket, int64_t steps);

// Runs a job in this process. Fails the test unless it ends well and its report keeps the schema;
// returns its only job.
Json RunInProcess(const TrainOptions& options, const JobHooks& hooks = {});

// Loss and model digests of a job: equal after bit-equal training.
std::string TrainingDigest(const Json& job);

// What the same training gives without any blazed.
std::string PlainDigest(TrainOptions options);

}  // namespace blazed::trainer
