// What a plan changed, kernel by kernel, against the default. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/kernels.h"

namespace blazed::history {

// A kernel's name and what each side says of it; null: that side does not run it. Points into what
// it was made of.
struct KernelChange {
  const storage::KernelUse* before = nullptr;
  const storage::KernelUse* after = nullptr;
};

// Those whose time changed most first; those without a time last.
std::vector<KernelChange> ChangesOf(const storage::PlanKernels& kernels);

// Steps as they were raced, without a profiler.
struct RacedSteps {
  double default_ns = 0;
  double plan_ns = 0;
};

// How long kernels run in a step, of how long a step is, and how they are launched; empty where
// nothing is known of either. A step is as long as `raced` says, where that was not too short for
// its kernels: a profiler makes steps longer, and on a CPU the operations as well.
std::string BusySentence(const storage::PlanKernels& kernels,
                         const std::optional<RacedSteps>& raced);

}  // namespace blazed::history
