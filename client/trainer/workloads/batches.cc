#include "absl/strings/str_cat.h"
#include "client/trainer/workloads/workload.h"
#include "kernels/cpu/counter_random.h"

namespace blazed::workloads {
namespace {

// Sequences drawn at random places of the text; the target of a character is the one after it.
class TextBatches : public BatchSource {
 public:
  TextBatches(const WorkloadOptions& options, const Corpus* corpus)
      : options_(options), corpus_(*corpus) {}

  void Fill(int64_t step, cpu::StepInputs* inputs) override {
    const bool trains = options_.regime == graph::Regime::kTraining;
    const absl::Span<int32_t> tokens = inputs->I32(0);
    const int64_t places = corpus_.size() - options_.seq;
    for (int64_t b = 0; b < options_.batch; ++b) {
      const uint64_t draw =
          cpu::BitsAt(options_.seed, 0x7e87, static_cast<uint64_t>(step * options_.batch + b));
      const auto start = static_cast<int64_t>(draw % static_cast<uint64_t>(places));
      for (int64_t t = 0; t < options_.seq; ++t) {
        const auto row = static_cast<size_t>(b * options_.seq + t);
        tokens[row] = corpus_.id(start + t);
        if (trains) inputs->I32(1)[row] = corpus_.id(start + t + 1);
      }
    }
  }

 private:
  const WorkloadOptions options_;
  const Corpus& corpus_;
};

// Random rows, and as target a fixed function of the row: each element damped by its left
// neighbour.
class TeacherBatches : public BatchSource {
 public:
  explicit TeacherBatches(const WorkloadOptions& options) : options_(options) {}

  void Fill(int64_t step, cpu::StepInputs* inputs) override {
    const absl::Span<float> x = inputs->F32(0);
    const auto first = static_cast<uint64_t>(step) * x.size();
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = 2.0f * cpu::UniformAt(options_.seed, 0x7ea0, first + i) - 1.0f;
    }
    if (options_.regime != graph::Regime::kTraining) return;
    const absl::Span<float> target = inputs->F32(1);
    const auto width = static_cast<size_t>(options_.width);
    for (size_t i = 0; i < x.size(); ++i) {
      const float left = i % width == 0 ? 0.5f : x[i - 1];
      target[i] = 0.5f * x[i] + 0.25f * x[i] * left - 0.125f;
    }
  }

 private:
  const WorkloadOptions options_;
};

}  // namespace

int64_t MinimumText(const Workload& workload) {
  return NeedsText(workload) ? int64_t{workload.options.seq} + 1 : 0;
}

absl::StatusOr<std::unique_ptr<BatchSource>> MakeBatches(const Workload& workload,
                                                         const Corpus* corpus) {
  if (!NeedsText(workload)) return std::make_unique<TeacherBatches>(workload.options);
  if (corpus == nullptr || corpus->size() < MinimumText(workload)) {
    return absl::InvalidArgumentError(absl::StrCat(workload.name, " needs a text of at least ",
                                                   MinimumText(workload), " characters; give one"));
  }
  return std::make_unique<TextBatches>(workload.options, corpus);
}

}  // namespace blazed::workloads
