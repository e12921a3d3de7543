// Answers of the daemon as text for people. Pure functions: no clock, no socket, so tests compare
// whole texts.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "blazed/v1/history.pb.h"
#include "client/blazectl/screen.h"

namespace blazed::blazectl {

std::string RenderStatus(const v1::GetStatusReply& status, const Screen& screen);
std::string RenderGraphs(const v1::ListWorkloadsReply& workloads, const v1::ListGraphsReply& graphs,
                         const Screen& screen, absl::Time now);
enum class WorkloadColumn { kShown, kLeftOut };
std::string RenderPlans(const v1::ListPlansReply& plans, const Screen& screen,
                        WorkloadColumn workload = WorkloadColumn::kShown);
std::string RenderRaces(const v1::ListRacesReply& races, const Screen& screen);
std::string RenderSettlements(const v1::ListSettlementsReply& settlements, const Screen& screen,
                              absl::Time now);
// Kernels of a step under the default plan (before) and under another (after): "-" is one that a
// side does not run, "?" what is not known of it.
std::string RenderKernels(const v1::KernelComparison& kernels, const Screen& screen);
std::string RenderExplain(const v1::ExplainReply& answer, const Screen& screen, absl::Time now);
// One line; the wall time is shown in `zone`. Empty for what only a replay reads: ticks, leases,
// builds and probes one by one.
std::string RenderEvent(const v1::WatchEvent& event, const Screen& screen, absl::TimeZone zone);

}  // namespace blazed::blazectl
