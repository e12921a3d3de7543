#include "client/cpp/engine/prober.h"

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
  if (tensor.struct_size < sizeof(blz_tensor) || tensor.name == nullptr) return std::nullopt;
  const size_t name_bytes = strnlen(tensor.name, kMaxTensorName + 1);
  const auto dtype = DtypeOf(RawEnum(tensor.dtype));
  const auto role = RoleOf(RawEnum(tensor.role));
  if (name_bytes == 0 || name_bytes > kMaxTensorName || !dtype || !role) return std::nullopt;
  if (tensor.count > 0 && tensor.data == nullptr) return std::nullopt;
  if (tensor.count > SIZE_MAX / equivalence::BytesPerElement(*dtype)) return std::nullopt;
  return TensorView{
      {tensor.name, name_bytes}, *dtype, *role, tensor.count, tensor.data, tensor.row};
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

// Compares each tensor with the one of the same place in the reference.
class Prober::CompareSink final : public blz_probe_sink {
 public:
  CompareSink(const std::vector<Held>& reference, size_t count)
      : reference_(reference), count_(count) {}
  std::vector<TensorResult>& results() { return results_; }
  bool Matched() const { return !mismatched_ && results_.size() == count_; }

  blz_result Take(const blz_tensor& tensor) override {
    const auto view = ViewOf(tensor);
    const size_t index = results_.size();
    if (mismatched_ || !view.has_value() || index >= count_) return Mismatch();
    const TensorView expected = reference_[index].View();
    if (!equivalence::SameShape(expected, *view)) return Mismatch();
    results_.push_back({reference_[index].name,
                        view->dtype,
                        view->role,
                        equivalence::Compare(expected, *view, static_cast<uint32_t>(index)),
                        {}});
    return BLZ_OK;
  }

 private:
  blz_result Mismatch() {
    mismatched_ = true;
    return BLZ_INVALID;
  }

  const std::vector<Held>& reference_;
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

const char* Prober::MakeReference() {
  if (has_reference_) return "";
  RecordSink sink(reference_, memory_limit_);
  if (!Run(0, sink)) return "the default plan's check computation faulted";
  if (sink.problem()[0] != '\0') return sink.problem();
  reference_count_ = sink.count();
  has_reference_ = true;
  return has_own_ ? "" : MeasureOwnDifference();
}

const char* Prober::MeasureOwnDifference() {
  CompareSink sink(reference_, reference_count_);
  if (!Run(0, sink)) return "the default plan's check computation faulted";
  if (!sink.Matched()) return "the default plan's two runs gave different tensors";
  own_.clear();
  for (const TensorResult& result : sink.results()) {
    own_.push_back(equivalence::OwnFrom(result.difference));
  }
  has_own_ = true;
  return "";
}

Prober::Outcome Prober::Check(uint64_t handle) {
  const uint64_t start = clock_.Now();
  Outcome outcome;
  outcome.summary.probes = 1;
  outcome.summary.verdict = equivalence::Verdict::kInconclusive;
  outcome.note = MakeReference();
  if (outcome.note[0] != '\0') {
    outcome.ns = clock_.Now() - start;
    return outcome;
  }
  CompareSink sink(reference_, reference_count_);
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
