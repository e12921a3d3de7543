#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/cpu/dispatch_record.h"
#include "kernels/cpu/model.h"
#include "kernels/cpu/step_inputs.h"
#include "kernels/fuse/decision.h"
#include "kernels/fuse/plan.h"
#include "kernels/graph/types.h"

namespace blazed::cpu {

// Defined in kernels/cpu/fault.h, for tests only.
struct Fault;

// What changes cost but never a bit.
struct BuildOptions {
  // Working set a merged block's tile is sized to. Larger tiles mean fewer passes through the
  // interpreter, smaller ones stay nearer to the core.
  int64_t tile_bytes = 32 * 1024;
  // A merged block whose one-row scratch would exceed this is split, whatever the plan asks;
  // the dispatch record shows it.
  int64_t scratch_cap_bytes = 1024 * 1024;
  // Vectors of 16 floats that a part of a block has to bring through an operation, some 10 us of
  // work: to hand a part to another thread and to wait for it takes one or two.
  int64_t part_vectors = 4096;
  // Widest vector level to use: 1, 3 or 4 as in x86-64-v1, -v3, -v4. 0 takes what the processor
  // has.
  int isa_level = 0;
  // Tests only; never set by a program. Not owned.
  const Fault* fault = nullptr;
};

// One tensor a probe copied out: outputs, gradients, the loss, and parameters and state as the
// optimiser would leave them (outputs named "next/...") in f32, predictions in i32; the other
// vector is empty.
struct ProbeTensor {
  std::string name;
  graph::Role role = graph::Role::kOutput;
  graph::Shape shape;
  std::vector<float> f32;
  std::vector<int32_t> i32;  // column of the largest logit of each row
};

struct StepResult {
  float loss = 0.0f;  // 0 in the forward regime
};

// A plan built and ready to run: blocks, scratch and intermediates. Parameters stay with the model,
// which must outlive the variant. Building again from the same plan after destroying a variant
// takes fresh memory and gives the same bits. Not thread safe.
class Variant {
 public:
  // INVALID_ARGUMENT for a plan that does not fit `space`; RESOURCE_EXHAUSTED without memory.
  // In either case the caller goes on with the variant it has.
  static absl::StatusOr<std::unique_ptr<Variant>> Build(Model* model,
                                                        const fuse::DecisionSpace& space,
                                                        const fuse::Plan& plan,
                                                        const BuildOptions& options = {});
  ~Variant();

  // One step: in the training regime parameters and state change. Synchronous: when it returns,
  // everything is done. Allocates nothing.
  StepResult Run(const StepInputs& inputs);

  // The whole step, optimiser included, with every change to parameters and state going to the
  // model's shadow: the model is as before. Also refreshes record().
  std::vector<ProbeTensor> RunProbe(const StepInputs& inputs);

  // Runs as RunProbe does and copies nothing out: warms the variant up and fills record().
  void Observe(const StepInputs& inputs);

  // What the last probe or observation ran; empty before the first.
  const DispatchRecord& record() const;
  // record().Signature(); zero before the first probe or observation.
  graph::Hash128 signature() const;

  const fuse::Plan& plan() const;
  int64_t build_ns() const;
  // Scratch, intermediates and workspace owned by this variant (parameters and shadow excluded).
  int64_t peak_bytes() const;

 private:
  struct State;
  explicit Variant(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace blazed::cpu
