// What a step ran, kernel by kernel, under the default plan and under another one. Measured in one
// session; what its host did not know is absent, never zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/planner/types.h"
#include "storage/records.h"

namespace blazed::storage {

// All launches of one name together. Bytes are the host's reckoning from shapes; of several kernels
// of one name the last three are the most.
struct KernelUse {
  std::string name;
  std::optional<uint64_t> launches;
  std::optional<uint64_t> time_ns;
  std::optional<uint64_t> read_bytes, written_bytes;
  std::optional<uint32_t> registers;     // of a thread
  std::optional<uint32_t> spill_bytes;   // of a thread
  std::optional<uint32_t> shared_bytes;  // of a block
  bool operator==(const KernelUse&) const = default;
};

struct StepTotals {
  std::optional<uint64_t> step_ns;  // under a profiler, which makes it longer
  std::optional<uint64_t> busy_ns;  // of it, while at least one kernel ran
  std::optional<uint64_t> kernel_launches;
  std::optional<uint64_t> host_launches;  // a recording of many kernels is one
  bool operator==(const StepTotals&) const = default;
};

struct StepKernels {
  StepTotals totals;
  std::vector<KernelUse> kernels;  // each name once
  bool operator==(const StepKernels&) const = default;
};

struct PlanKernels {
  planner::Plan plan;
  planner::SessionId session = 0;
  StepKernels before;  // under the default plan
  StepKernels after;   // under `plan`
  bool operator==(const PlanKernels&) const = default;
};

// One a plan of a tuning; the newest counts.
struct StoredKernels {
  int64_t id = 0;
  TuningId tuning = 0;
  PlanKernels record;
  WallNs seen_ns = 0;
  bool operator==(const StoredKernels&) const = default;
};

}  // namespace blazed::storage
