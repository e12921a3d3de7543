#include "client/cpp/engine/prober.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>

#include "client/cpp/base/raw_enum.h"
#include "client/cpp/base/text.h"

namespace blazed::shim {
namespace {

using equivalence::TensorResult;
using equivalence::TensorView;

constexpr size_t kMaxTensorName = 96;
constexpr int kFirstRepeats = 2;  // of the default, beside the run that others are compared with
// blz_tensor as it was before it named the arithmetic.
constexpr size_t kSmallestTensor = offsetof(blz_tensor, unit_roundoff);

std::optional<equivalence::Dtype> DtypeOf(uint32_t dtype) {
  switch (dtype) {
    case BLZ_F32:
      return equivalence::Dtype::kF32;
    case BLZ_F64:
      return equivalence::Dtype::kF64;
    case BLZ_F16:
      return equivalence::Dtype::kF16;
    case BLZ_BF16:
      return equivalence::Dtype::kBf16;
    case BLZ_I32:
      return equivalence::Dtype::kI32;
    case BLZ_I64:
      return equivalence::Dtype::kI64;
  }
  return std::nullopt;
}

std::optional<equivalence::Role> RoleOf(uint32_t role) {
  switch (role) {
    case BLZ_OUTPUT:
      return equivalence::Role::kOutput;
    case BLZ_GRADIENT:
      return equivalence::Role::kGradient;
    case BLZ_PREDICTION:
      return equivalence::Role::kPrediction;
    case BLZ_LOSS:
      return equivalence::Role::kLoss;
  }
  return std::nullopt;
}

// Nothing: the tensor is malformed.
std::optional<TensorView> ViewOf(const blz_tensor& tensor) {
  if (tensor.struct_size < kSmallestTensor || tensor.name == nullptr) return std::nullopt;
  const double unit_roundoff = tensor.struct_size < sizeof(blz_tensor) ? 0 : tensor.unit_roundoff;
  if (!(unit_roundoff >= 0 && unit_roundoff <= equivalence::kCoarsestRoundoff)) return std::nullopt;
  const size_t name_bytes = strnlen(tensor.name, kMaxTensorName + 1);
  const auto dtype = DtypeOf(RawEnum(tensor.dtype));
  const auto role = RoleOf(RawEnum(tensor.role));
  if (name_bytes == 0 || name_bytes > kMaxTensorName || !dtype || !role) return std::nullopt;
  if (tensor.count > 0 && tensor.data == nullptr) return std::nullopt;
  if (tensor.count > SIZE_MAX / equivalence::BytesPerElement(*dtype)) return std::nullopt;
  return TensorView{{tensor.name, name_bytes},
                    *dtype,
                    *role,
                    tensor.count,
                    tensor.data,
                    tensor.row,
                    unit_roundoff};
}

}  // namespace

// Copies what the default computed.
class Prober::RecordSink final : public blz_probe_sink {
 public:
  RecordSink(std::vector<Held>& held, uint64_t limit) : held_(held), left_(limit) {}
  const char* problem() const { return problem_; }
  size_t count() const { return count_; }

  blz_result Take(const blz_tensor& tensor) override {
    const auto view = ViewOf(tensor);
    if (!view.has_value()) {
      problem_ = "the default's check computation gave a malformed tensor";
      return BLZ_INVALID;
    }
    const uint64_t bytes = view->count * equivalence::BytesPerElement(view->dtype);
    if (bytes > left_) {
      problem_ = "the default's tensors pass probe_memory_bytes";
      return BLZ_INVALID;
    }
    left_ -= bytes;
    if (count_ == held_.size()) held_.emplace_back();
    Held& slot = held_[count_++];
    slot.name = view->name;
    slot.dtype = view->dtype;
    slot.role = view->role;
    slot.count = view->count;
    slot.row = view->row;
    slot.unit_roundoff = view->unit_roundoff;
    if (!slot.MakeRoom(bytes)) {
      problem_ = "no memory for a copy of the default's tensors";
      return BLZ_INVALID;
    }
    if (bytes > 0) std::memcpy(slot.bytes.get(), view->data, bytes);
    return BLZ_OK;
  }

 private:
  std::vector<Held>& held_;
  uint64_t left_;
  size_t count_ = 0;
  const char* problem_ = "";
};

// Compares each tensor with the default's of the same place.
class Prober::CompareSink final : public blz_probe_sink {
 public:
  CompareSink(const std::vector<Held>& of_default, size_t count)
      : of_default_(of_default), count_(count) {}
  std::vector<TensorResult>& results() { return results_; }
  bool Matched() const { return !mismatched_ && results_.size() == count_; }

  blz_result Take(const blz_tensor& tensor) override {
    const auto view = ViewOf(tensor);
    const size_t index = results_.size();
    if (mismatched_ || !view.has_value() || index >= count_) return Mismatch();
    const TensorView expected = of_default_[index].View();
    if (!equivalence::SameShape(expected, *view)) return Mismatch();
    // The default's arithmetic and not the variant's own word: a variant cannot ask for more room.
    results_.push_back({of_default_[index].name,
                        view->dtype,
                        view->role,
                        equivalence::Compare(expected, *view, static_cast<uint32_t>(index)),
                        {},
                        expected.unit_roundoff});
    return BLZ_OK;
  }

 private:
  blz_result Mismatch() {
    mismatched_ = true;
    return BLZ_INVALID;
  }

  const std::vector<Held>& of_default_;
  const size_t count_;
  std::vector<TensorResult> results_;
  bool mismatched_ = false;
};

class Prober::IgnoreSink final : public blz_probe_sink {
 public:
  blz_result Take(const blz_tensor&) override { return BLZ_OK; }
};

// The one allocation whose size the host's model decides: it may fail.
bool Prober::Held::MakeRoom(uint64_t wanted) {
  if (wanted <= room) return true;
  bytes.reset(new (std::nothrow) unsigned char[wanted]);
  room = bytes != nullptr ? wanted : 0;
  return bytes != nullptr;
}

bool Prober::Run(uint64_t handle, blz_probe_sink& sink) {
  ++runs_;
  return ops_.probe(ops_.user, handle, &sink) == 0;
}

bool Prober::RunUnwatched(uint64_t handle) {
  IgnoreSink sink;
  return Run(handle, sink);
}

const char* Prober::RunDefault() {
  if (has_default_) return "";
  RecordSink sink(default_, memory_limit_);
  if (!Run(0, sink)) return "the default plan's check computation faulted";
  if (sink.problem()[0] != '\0') return sink.problem();
  default_count_ = sink.count();
  const char* problem = MeasureOwnError();
  has_default_ = problem[0] == '\0';
  return problem;
}

const char* Prober::MeasureOwnError() {
  const bool first = measured_points_ == 0;
  // No other contract judges by it: one repeat shows that the default gives the same tensors.
  const bool judges = contract_ == equivalence::Contract::kRounding;
  if (first) {
    own_.assign(default_count_, {});
    repeats_itself_ = true;
  }
  int repeats = first ? (judges ? kFirstRepeats : 1) : judges && !repeats_itself_ ? 1 : 0;
  for (; repeats > 0; --repeats) {
    CompareSink sink(default_, default_count_);
    if (!Run(0, sink)) return "the default plan's check computation faulted";
    if (!sink.Matched() || own_.size() != default_count_) {
      return "the default plan's two runs gave different tensors";
    }
    for (const TensorResult& result : sink.results()) {
      repeats_itself_ = repeats_itself_ && result.difference.mismatches == 0;
    }
    AddToOwn(sink.results(), false);
  }
  ++measured_points_;
  // At widening gaps: an error drifts as training goes on.
  if (judges && std::has_single_bit(measured_points_)) CompareWithReference();
  return "";
}

void Prober::CompareWithReference() {
  if (ops_.reference == nullptr || own_.size() != default_count_) return;
  CompareSink sink(default_, default_count_);
  ++runs_;
  if (ops_.reference(ops_.user, &sink) != 0 || !sink.Matched()) return;
  // NaN or Inf where the default has none: this reference is the worse of the two.
  for (const TensorResult& result : sink.results()) {
    if (result.difference.broken > 0) return;
  }
  AddToOwn(sink.results(), true);
}

void Prober::AddToOwn(const std::vector<TensorResult>& results, bool referenced) {
  for (size_t i = 0; i < results.size(); ++i) {
    own_[i] = equivalence::Larger(own_[i], equivalence::OwnErrorFrom(results[i].difference));
    own_[i].referenced |= referenced;
  }
}

Prober::Outcome Prober::Check(uint64_t handle) {
  const uint64_t start = clock_.Now();
  Outcome outcome;
  outcome.summary.probes = 1;
  outcome.summary.verdict = equivalence::Verdict::kInconclusive;
  outcome.note = RunDefault();
  if (outcome.note[0] != '\0') {
    outcome.ns = clock_.Now() - start;
    return outcome;
  }
  CompareSink sink(default_, default_count_);
  if (!Run(handle, sink)) {
    outcome.summary.verdict = equivalence::Verdict::kRejectedBroken;
    outcome.note = "the variant's check computation faulted";
  } else if (!sink.Matched() || own_.size() != sink.results().size()) {
    outcome.note = "the variant gave other tensors than the default";
  } else {
    for (size_t i = 0; i < own_.size(); ++i) sink.results()[i].own = own_[i];
    outcome.summary = equivalence::Judge(contract_, sink.results());
  }
  outcome.ns = clock_.Now() - start;
  return outcome;
}

}  // namespace blazed::shim
