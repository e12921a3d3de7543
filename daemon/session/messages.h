// What a shim says and hears, as plain values. proto types stop at daemon/rpc/convert.h; everything
// here has been checked against the limits of tuner.proto when it arrives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/base/ids.h"
#include "daemon/planner/action.h"
#include "daemon/planner/event.h"
#include "daemon/planner/types.h"
#include "storage/kernels.h"
#include "storage/records.h"

namespace blazed::session {

// ---- from the shim. Planner events come with session 0; the table fills it in ----

struct Hello {
  std::optional<SessionToken> resume;
  uint64_t resume_epoch = 0;
  std::optional<planner::Mode> mode;  // nothing: a mode this version does not know
  planner::Contract contract = planner::Contract::kRounding;
  std::string job;
  uint32_t rank = 0;
  uint32_t world_size = 1;
  std::string host_name;
  std::string shim_version;
  std::string device;
  std::map<std::string, std::string> environment;
  uint64_t extra_memory_bytes = 0;
  uint64_t tune_until_steps = 0;
  uint64_t tune_until_ns = 0;
};

struct GraphSeen {
  storage::GraphRow row;
};

struct WorkloadSeen {
  storage::WorkloadRow row;
  planner::Digest default_signature{};
  uint64_t default_peak_bytes = 0;
  uint64_t default_step_ns = 0;
  uint64_t default_build_ns = 0;
  std::vector<uint64_t> build_ns;  // as planner::SessionReady has it
  bool queued = false;
};

struct KernelsSeen {
  planner::VariantId variant = 0;
  storage::StepKernels before, after;
};

struct Bye {
  uint64_t steps = 0;
  std::string reason;
};

using Inbound = std::variant<Hello, GraphSeen, WorkloadSeen, planner::VariantBuilt,
                             planner::ProbeDone, planner::LeaseDone, planner::DirectiveRefused,
                             planner::ServiceWindow, planner::VariantAdopted, KernelsSeen, Bye>;

// ---- to the shim ----

struct Welcome {
  SessionToken token{};
  uint64_t epoch = 0;
  planner::Mode mode = planner::Mode::kObserve;
  std::string mode_reason;
  uint32_t probe_batches = 0;
};

// What does this plan run, and what the default?
struct WantKernels {
  planner::VariantId variant = 0;
};

// The message of this sequence number could not be used; the stream goes on.
struct Refused {
  uint64_t sequence = 0;
  std::string detail;
};

using Outbound = std::variant<Welcome, planner::BuildVariant, planner::ProbeVariants,
                              planner::RunPairs, planner::Adopt, planner::DropVariant,
                              planner::Stand, planner::ReportProgress, WantKernels, Refused>;

}  // namespace blazed::session
