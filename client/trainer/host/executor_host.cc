#include "client/trainer/host/executor_host.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/trainer/stopwatch.h"

namespace blazed::trainer {
namespace {

constexpr int kObservedSteps = 3;
constexpr size_t kLongestTensorName = 96;  // blz_tensor's limit
// Builds remembered for a report without a daemon; a search is far below it.
constexpr size_t kMostStories = 4096;

blz_role RoleOf(graph::Role role) {
  switch (role) {
    case graph::Role::kOutput:
      return BLZ_OUTPUT;
    case graph::Role::kGradient:
      return BLZ_GRADIENT;
    case graph::Role::kPrediction:
      return BLZ_PREDICTION;
    case graph::Role::kLoss:
      return BLZ_LOSS;
  }
  return BLZ_OUTPUT;
}

fuse::Plan PlanOf(std::span<const blz_choice> choices) {
  fuse::Plan plan;
  for (const blz_choice& choice : choices) {
    plan.push_back({static_cast<int32_t>(choice.decision), static_cast<int32_t>(choice.option)});
  }
  return plan;
}

}  // namespace

Digest ToDigest(const graph::Hash128& hash) {
  Digest digest;
  for (size_t i = 0; i < 8; ++i) {
    digest[i] = static_cast<uint8_t>(hash.high >> (56 - 8 * i));
    digest[8 + i] = static_cast<uint8_t>(hash.low >> (56 - 8 * i));
  }
  return digest;
}

ExecutorHost::ExecutorHost(const workloads::Workload& workload, workloads::BatchSource* batches,
                           BuildOptionsOf options)
    : workload_(workload),
      batches_(batches),
      options_(std::move(options)),
      inputs_(*workload.graph) {}

absl::StatusOr<std::unique_ptr<ExecutorHost>> ExecutorHost::Create(
    const workloads::Workload& workload, workloads::BatchSource* batches, const fuse::Plan& base,
    BuildOptionsOf options) {
  std::unique_ptr<ExecutorHost> host(new ExecutorHost(workload, batches, std::move(options)));
  auto model = cpu::Model::Create(workload.graph, workload.options.seed);
  if (!model.ok()) return model.status();
  host->model_ = *std::move(model);
  if (absl::Status status = host->LoadBatch(0); !status.ok()) return status;
  if (absl::Status status = host->BuildBase(base); !status.ok()) return status;
  return host;
}

absl::Status ExecutorHost::BuildBase(const fuse::Plan& plan) {
  auto variant = cpu::Variant::Build(model_.get(), workload_.space, plan, {});
  if (!variant.ok()) return variant.status();
  base_ = *std::move(variant);
  std::array<absl::Duration, kObservedSteps> observed;
  for (absl::Duration& duration : observed) {
    const Stopwatch watch;
    base_->Observe(inputs_);
    duration = watch.Elapsed();
  }
  std::sort(observed.begin(), observed.end());
  base_step_ = observed[kObservedSteps / 2];
  return absl::OkStatus();
}

absl::Status ExecutorHost::LoadBatch(int64_t step) {
  batches_->Fill(step, &inputs_);
  return inputs_.Check();
}

cpu::Variant& ExecutorHost::VariantOf(uint64_t handle) {
  const auto it = variants_.find(handle);
  return it == variants_.end() ? *base_ : *it->second;
}

cpu::StepResult ExecutorHost::Run(uint64_t handle) { return VariantOf(handle).Run(inputs_); }

int ExecutorHost::Build(std::span<const blz_choice> choices, blz_built& built) {
  BuildStory story;
  story.plan = PlanOf(choices);
  fuse::Plan plan = story.plan;
  const cpu::BuildOptions options = options_ ? options_(plan) : cpu::BuildOptions{};
  auto variant = cpu::Variant::Build(model_.get(), workload_.space, plan, options);
  if (!variant.ok()) {
    story.failure = std::string(variant.status().message());
    Explain(built, story.failure);
    if (builds_.size() < kMostStories) builds_.push_back(std::move(story));
    return absl::IsResourceExhausted(variant.status()) ? BLZ_BUILD_MEMORY : BLZ_BUILD_FAILED;
  }
  // One run on scratch: what it does, it does to the shadow.
  (*variant)->Observe(inputs_);
  story.signature = ToDigest((*variant)->signature());
  built.handle = next_handle_++;
  built.build_ns = static_cast<uint64_t>((*variant)->build_ns());
  built.peak_bytes = static_cast<uint64_t>((*variant)->peak_bytes());
  std::copy(story.signature.begin(), story.signature.end(), built.signature);
  variants_[built.handle] = *std::move(variant);
  if (builds_.size() < kMostStories) builds_.push_back(std::move(story));
  return BLZ_BUILD_OK;
}

void ExecutorHost::Drop(uint64_t handle) { variants_.erase(handle); }

bool ExecutorHost::Probe(uint64_t handle, ProbeSink& sink) {
  if (handle != 0 && variants_.count(handle) == 0) return false;
  for (const cpu::ProbeTensor& tensor : VariantOf(handle).RunProbe(inputs_)) {
    const std::string name = tensor.name.substr(0, kLongestTensorName);
    if (!tensor.i32.empty()) {
      sink.Tensor(name.c_str(), BLZ_I32, RoleOf(tensor.role), tensor.i32.data(), tensor.i32.size());
    } else {
      sink.Tensor(name.c_str(), RoleOf(tensor.role), tensor.f32,
                  static_cast<uint64_t>(tensor.shape.cols));
    }
  }
  return true;
}

Digest ExecutorHost::Signature(uint64_t handle) {
  if (handle != 0 && variants_.count(handle) == 0) return Digest{};
  return ToDigest(VariantOf(handle).signature());
}

}  // namespace blazed::trainer
