// The host's description, checked against the limits of tuner.proto and copied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cpp/include/blazed/blazed.h"
#include "client/cpp/wire/messages.h"

namespace blazed::shim {

// Nothing: `error` says which limit was broken.
std::optional<GraphSeen> CheckGraph(const blz_graph* graph, std::string& error);

// `known` are the graphs described before.
std::optional<WorkloadSeen> CheckWorkload(const blz_workload* workload,
                                          const std::vector<GraphSeen>& known, std::string& error);

// XXH3-128 over the graphs' fingerprints and every decision, in order. Names for people (of the
// workload, of decisions) do not enter; option names do.
Digest WorkloadFingerprint(const WorkloadSeen& workload);

// True for a plan that the workload's decisions allow: sorted, no decision twice, options in range
// and not the host's own.
bool PlanFits(const Plan& plan, const std::vector<DecisionSeen>& decisions);

// A plan that fits, for people: "attention=streamed, ln|gemm=cut and 3 more"; "default".
std::string PlanText(const Plan& plan, const std::vector<DecisionSeen>& decisions);

}  // namespace blazed::shim
