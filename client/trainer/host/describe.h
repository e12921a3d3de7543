#pragma once

#include <map>
#include <string>

#include "blazed/blazed.hpp"
#include "client/trainer/host/executor_host.h"
#include "client/trainer/workloads/workload.h"
#include "kernels/fuse/plan.h"

namespace blazed::trainer {

// What a measurement on this machine is valid for: processor, caches, BLAS, trainer, and how many
// threads a plan may use. Keys and values within the shim's limits. After a model was made: that
// loads the BLAS library.
std::map<std::string, std::string> DescribeEnvironment(int threads);

// Tells the session the graph and its decisions; `host` holds the default plan's signature and
// cost. A refusal shows in the session's reason and the session then only observes.
void Describe(const workloads::Workload& workload, const ExecutorHost& host, Session* session);

// The options of every decision as names: {"attention=streamed"}.
std::vector<std::string> PlanNames(const fuse::DecisionSpace& space, const fuse::Plan& plan);

// Every boundary cut, every choice the host's own: nothing merged.
fuse::Plan AllCut(const fuse::DecisionSpace& space);

int BoundaryCount(const fuse::DecisionSpace& space);

}  // namespace blazed::trainer
