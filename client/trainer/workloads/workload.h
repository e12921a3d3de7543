#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainer/workloads/corpus.h"
#include "kernels/cpu/step_inputs.h"
#include "kernels/fuse/decision.h"
#include "kernels/graph/graph.h"

namespace blazed::workloads {

// Sizes of a workload; 0 takes the workload's own default (the demo's size).
struct WorkloadOptions {
  int width = 0;    // features a row
  int seq = 0;      // attention: characters a sequence
  int batch = 0;    // attention: sequences a step; mlp and chain: rows a step
  int layers = 0;   // mlp and attention
  int heads = 0;    // attention; must divide the width
  int threads = 1;  // that a plan may run a step on; one is no decision
  uint64_t seed = 1;
  graph::Regime regime = graph::Regime::kTraining;
};

// Fills the inputs of one step. Step `step` always gives the same batch for the same seed.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual void Fill(int64_t step, cpu::StepInputs* inputs) = 0;
};

// A graph with its decisions and its data. Immutable; shared by the model and all variants.
struct Workload {
  std::string name;
  WorkloadOptions options;  // with defaults filled in
  std::shared_ptr<const graph::Graph> graph;
  fuse::DecisionSpace space;
};

// Names that Make accepts, in the order of the design page.
std::vector<std::string> WorkloadNames();

// True when the workload trains on a text (`attention`).
bool NeedsText(const Workload& workload);

// Builds the workload. INVALID_ARGUMENT with the accepted names or range for an unknown name or a
// size out of range.
absl::StatusOr<Workload> Make(const std::string& name, const WorkloadOptions& options);

// FAILED_PRECONDITION where its parameters and its optimiser's state alone take more than
// `memory_bytes`: the machine would end the job, or another program, for want of memory.
absl::Status CheckMemory(const Workload& workload, uint64_t memory_bytes);

// The batches of `workload`. `corpus` may be null unless NeedsText(); it must outlive the source
// and hold at least MinimumText(workload) characters, else INVALID_ARGUMENT.
absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatches(const Workload& workload,
                                                         const Corpus* corpus);

// Characters a text needs for this workload.
int64_t MinimumText(const Workload& workload);

}  // namespace blazed::workloads
