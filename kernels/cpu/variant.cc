#include "kernels/cpu/variant.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/fault.h"
#include "kernels/cpu/isa/table.h"
#include "kernels/cpu/lower.h"

namespace blazed::cpu {
namespace {

using graph::ValueId;
using graph::ValueKind;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Column of the largest element of each row, the first of equals.
ProbeTensor Predictions(const ProbeTensor& logits) {
  ProbeTensor tensor;
  tensor.name = absl::StrCat(logits.name, "/argmax");
  tensor.role = graph::Role::kPrediction;
  tensor.shape = {logits.shape.rows, 1};
  for (int64_t r = 0; r < logits.shape.rows; ++r) {
    const float* row = logits.f32.data() + r * logits.shape.cols;
    int32_t best = 0;
    for (int32_t c = 1; c < logits.shape.cols; ++c) {
      if (row[c] > row[best]) best = c;
    }
    tensor.i32.push_back(best);
  }
  return tensor;
}

}  // namespace

struct Variant::State {
  State(Model* m, const fuse::Plan& p, const BuildOptions& options)
      : model(*m), plan(p), kernels(KernelsFor(options.isa_level)), fault(options.fault) {}

  // Addresses of everything but the step's inputs. Stored values go to the model in a step and to
  // its shadow in a probe; what they replace is read from the model in both.
  void Bind() {
    const graph::Graph& graph = model.graph();
    live.assign(graph.values().size(), nullptr);
    for (size_t i = 0; i < live.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const graph::Value& value = graph.value(id);
      if (value.kind == ValueKind::kParameter || value.kind == ValueKind::kState) {
        live[i] = model.Data(id).data();
      } else if (value.stored_in != graph::kNone) {
        live[i] = model.Data(value.stored_in).data();
      } else if (value.kind == ValueKind::kComputed) {
        live[i] = executor->ArenaAddress(id);
      }
    }
    shadow = live;
    for (size_t i = 0; i < shadow.size(); ++i) {
      const ValueId target = graph.values()[i].stored_in;
      if (target != graph::kNone) shadow[i] = model.Shadow(target);
    }
  }

  void BindInputs(const StepInputs& inputs, std::vector<const void*>* memory) const {
    const auto& ids = model.graph().inputs();
    for (size_t i = 0; i < ids.size(); ++i) {
      (*memory)[static_cast<size_t>(ids[i])] = inputs.data(static_cast<int>(i));
    }
  }

  float Loss(const std::vector<const void*>& memory) const {
    const ValueId loss = model.graph().loss();
    return loss == graph::kNone ? 0.0f
                                : *static_cast<const float*>(memory[static_cast<size_t>(loss)]);
  }

  void Probe(const StepInputs& inputs) {
    BindInputs(inputs, &shadow);
    executor->Run(shadow, &record);
  }

  ProbeTensor CopyOut(ValueId id, std::string name, graph::Role role) const {
    ProbeTensor tensor;
    tensor.name = std::move(name);
    tensor.role = role;
    tensor.shape = model.graph().value(id).shape;
    const auto* data = static_cast<const float*>(shadow[static_cast<size_t>(id)]);
    tensor.f32.assign(data, data + tensor.shape.elements());
    return tensor;
  }

  Model& model;
  const fuse::Plan plan;
  const KernelTable& kernels;
  const Fault* fault;
  Program program;
  std::unique_ptr<Executor> executor;
  std::vector<const void*> live;    // by value
  std::vector<const void*> shadow;  // by value
  DispatchRecord record;
  int64_t build_ns = 0;
};

Variant::Variant(std::unique_ptr<State> state) : state_(std::move(state)) {}
Variant::~Variant() = default;

absl::StatusOr<std::unique_ptr<Variant>> Variant::Build(Model* model,
                                                        const fuse::DecisionSpace& space,
                                                        const fuse::Plan& plan,
                                                        const BuildOptions& options) {
  const int64_t begin_ns = NowNs();
  absl::Status fits = fuse::CheckPlan(space, plan);
  if (!fits.ok()) return fits;
  auto state = std::make_unique<State>(model, plan, options);
  state->program = Lower(model->graph(), space, plan, options, state->kernels);
  Workers* workers = nullptr;
  if (state->program.threads > 1) {
    auto helpers = model->Helpers(state->program.threads - 1);
    if (!helpers.ok()) return helpers.status();
    workers = *helpers;
  }
  state->executor = std::make_unique<Executor>(model->graph(), state->program, state->kernels,
                                               options.fault, workers);
  if (!state->executor->Allocate()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a variant of ",
                     (state->program.arena_floats + state->program.scratch_floats) *
                         static_cast<int64_t>(sizeof(float)),
                     " bytes; keep the plan in use or drop an idle variant"));
  }
  state->Bind();
  state->build_ns = NowNs() - begin_ns;
  return std::unique_ptr<Variant>(new Variant(std::move(state)));
}

StepResult Variant::Run(const StepInputs& inputs) {
  state_->BindInputs(inputs, &state_->live);
  state_->executor->Run(state_->live, nullptr);
  return {state_->Loss(state_->live)};
}

void Variant::Observe(const StepInputs& inputs) { state_->Probe(inputs); }

std::vector<ProbeTensor> Variant::RunProbe(const StepInputs& inputs) {
  state_->Probe(inputs);
  const graph::Graph& graph = state_->model.graph();
  std::vector<ProbeTensor> tensors;
  for (const graph::Exposed& exposed : graph.exposed()) {
    const bool predicts = exposed.role == graph::Role::kPrediction;
    const graph::Role role = predicts ? graph::Role::kOutput : exposed.role;
    tensors.push_back(state_->CopyOut(exposed.value, exposed.name, role));
    if (predicts) tensors.push_back(Predictions(tensors.back()));
  }
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const ValueId target = graph.values()[i].stored_in;
    if (target == graph::kNone) continue;
    tensors.push_back(state_->CopyOut(static_cast<ValueId>(i),
                                      absl::StrCat("next/", graph.value(target).name),
                                      graph::Role::kOutput));
  }
  return tensors;
}

const DispatchRecord& Variant::record() const { return state_->record; }

graph::Hash128 Variant::signature() const {
  if (state_->record.lines().empty()) return {};
  if (state_->fault != nullptr && state_->fault->kind == Fault::Kind::kForgeSignature) {
    return state_->fault->claimed_signature;
  }
  return state_->record.Signature();
}

const fuse::Plan& Variant::plan() const { return state_->plan; }
int64_t Variant::build_ns() const { return state_->build_ns; }
int64_t Variant::peak_bytes() const { return state_->executor->bytes(); }

}  // namespace blazed::cpu
