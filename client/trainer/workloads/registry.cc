#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/trainer/workloads/builders.h"
#include "client/trainer/workloads/limits.h"
#include "client/trainer/workloads/workload.h"
#include "kernels/fuse/threads.h"

namespace blazed::workloads {
namespace {

struct Entry {
  Sizes sizes;
  absl::StatusOr<graph::Graph> (*build)(const WorkloadOptions&);
};

const std::map<std::string, Entry>& Entries() {
  static const auto& entries = *new std::map<std::string, Entry>{
      {"mlp", {kMlpSizes, BuildMlp}},
      {"attention", {kAttentionSizes, BuildAttention}},
      {"chain", {kChainSizes, BuildChain}},
  };
  return entries;
}

struct Bound {
  const char* name;
  int WorkloadOptions::*field;
  int limit;
};
constexpr Bound kBounds[] = {
    {"width", &WorkloadOptions::width, kMostWidth},
    {"seq", &WorkloadOptions::seq, kMostSeq},
    {"batch", &WorkloadOptions::batch, kMostBatch},
    {"layers", &WorkloadOptions::layers, kMostLayers},
    {"heads", &WorkloadOptions::heads, kMostHeads},
    {"threads", &WorkloadOptions::threads, kMostThreads},
};
constexpr int64_t kMaxActivations = int64_t{1} << 28;

void FillDefaults(const Sizes& sizes, WorkloadOptions* options) {
  if (options->width == 0) options->width = sizes.width;
  if (options->seq == 0) options->seq = sizes.seq;
  if (options->batch == 0) options->batch = sizes.batch;
  if (options->layers == 0) options->layers = sizes.layers;
  if (options->heads == 0) options->heads = sizes.heads;
}

absl::Status CheckSizes(const std::string& name, const WorkloadOptions& options) {
  for (const Bound& bound : kBounds) {
    const int value = options.*bound.field;
    if (value < 1 || value > bound.limit) {
      return absl::InvalidArgumentError(
          absl::StrCat(bound.name, " ", value, " is outside 1 to ", bound.limit));
    }
  }
  if (name == "attention" && options.width % options.heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat("width ", options.width,
                                                   " is not a multiple of heads ", options.heads,
                                                   "; give heads that divide the width"));
  }
  if (int64_t{options.batch} * options.seq * options.width > kMaxActivations) {
    return absl::InvalidArgumentError(
        "batch times seq times width is above 2^28; make one of them smaller");
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> WorkloadNames() { return {"mlp", "attention", "chain"}; }

bool NeedsText(const Workload& workload) { return workload.name == "attention"; }

absl::StatusOr<Workload> Make(const std::string& name, const WorkloadOptions& options) {
  const auto at = Entries().find(name);
  if (at == Entries().end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no workload is named \"", name, "\"; use one of ", absl::StrJoin(WorkloadNames(), ", ")));
  }
  Workload workload;
  workload.name = name;
  workload.options = options;
  FillDefaults(at->second.sizes, &workload.options);
  absl::Status fits = CheckSizes(name, workload.options);
  if (!fits.ok()) return fits;
  absl::StatusOr<graph::Graph> graph = at->second.build(workload.options);
  if (!graph.ok()) return graph.status();
  workload.graph = std::make_shared<const graph::Graph>(*std::move(graph));
  absl::Status enumerated = fuse::Enumerate(*workload.graph, &workload.space);
  if (!enumerated.ok()) return enumerated;
  absl::Status offered = fuse::OfferThreads(workload.options.threads, &workload.space);
  if (!offered.ok()) return offered;
  return workload;
}

absl::Status CheckMemory(const Workload& workload, uint64_t memory_bytes) {
  uint64_t bytes = 0;
  for (const graph::Value& value : workload.graph->values()) {
    const bool kept =
        value.kind == graph::ValueKind::kParameter || value.kind == graph::ValueKind::kState;
    if (kept) bytes += static_cast<uint64_t>(value.shape.elements()) * sizeof(float);
  }
  if (bytes <= memory_bytes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the model's parameters and its optimiser's state take ", bytes >> 20,
                   " MiB and the machine has ", memory_bytes >> 20,
                   " MiB; make the width or the number of layers smaller"));
}

}  // namespace blazed::workloads
