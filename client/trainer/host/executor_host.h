#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "blazed/blazed.hpp"
#include "client/trainer/workloads/workload.h"
#include "kernels/cpu/model.h"
#include "kernels/cpu/step_inputs.h"
#include "kernels/cpu/variant.h"

namespace blazed::trainer {

// How each variant is built. Programs leave it empty; tests use it to offer wrong variants, and may
// have another plan built than the one that was asked for.
using BuildOptionsOf = std::function<cpu::BuildOptions(fuse::Plan& plan)>;

// What the host remembers of one build that blazed asked for, for reports without a daemon.
struct BuildStory {
  fuse::Plan plan;
  Digest signature{};
  std::string failure;  // empty: it was built
};

// The shim's view of this trainer: the default plan under handle 0 and every variant that blazed
// asked for, all over one model, one batch at a time. One thread.
class ExecutorHost : public blazed::Host {
 public:
  // Builds `base` under handle 0 (the empty plan for a job that tunes), and observes it once, so
  // that its signature and cost are known. `workload` and `batches` must outlive the host.
  // Errors: what the model, the build or the first batch said.
  static absl::StatusOr<std::unique_ptr<ExecutorHost>> Create(const workloads::Workload& workload,
                                                              workloads::BatchSource* batches,
                                                              const fuse::Plan& base,
                                                              BuildOptionsOf options = nullptr);

  // Makes the batch of `step` the coming one. Before StepBegin, so that probes see it too.
  absl::Status LoadBatch(int64_t step);
  // Runs one step by `handle`; an unknown handle runs the base plan.
  cpu::StepResult Run(uint64_t handle);

  // blazed::Host.
  int Build(std::span<const blz_choice> choices, blz_built& built) override;
  void Drop(uint64_t handle) override;
  bool Probe(uint64_t handle, ProbeSink& sink) override;
  Digest Signature(uint64_t handle) override;

  const cpu::Model& model() const { return *model_; }
  const cpu::Variant& base() const { return *base_; }
  // Median cost of one observed step under the base plan, optimiser included.
  absl::Duration base_step() const { return base_step_; }
  const std::vector<BuildStory>& builds() const { return builds_; }

 private:
  ExecutorHost(const workloads::Workload& workload, workloads::BatchSource* batches,
               BuildOptionsOf options);

  absl::Status BuildBase(const fuse::Plan& plan);
  cpu::Variant& VariantOf(uint64_t handle);

  const workloads::Workload& workload_;
  workloads::BatchSource* const batches_;
  const BuildOptionsOf options_;
  cpu::StepInputs inputs_;
  std::unique_ptr<cpu::Model> model_;
  std::unique_ptr<cpu::Variant> base_;  // before the map: variants use the model only
  absl::Duration base_step_;
  std::map<uint64_t, std::unique_ptr<cpu::Variant>> variants_;
  uint64_t next_handle_ = 1;
  std::vector<BuildStory> builds_;
};

Digest ToDigest(const graph::Hash128& hash);

}  // namespace blazed::trainer
