// The variants that the host holds, and what each has proven in this process.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/base/digest.h"
#include "client/cpp/wire/messages.h"

namespace blazed::shim {

struct Variant {
  uint32_t id = 0;
  Plan plan;
  uint64_t handle = 0;
  Digest signature{};         // of its latest run
  Digest probed_signature{};  // of the runs that passed
  uint32_t passed = 0;        // consecutive live batches, all under probed_signature
  uint64_t probed_step = 0;   // whose batch it saw last, under whichever probe: one batch, one pass
  bool rejected = false;      // failed a probe: for the life of the process
  uint64_t build_ns = 0;
  uint64_t peak_bytes = 0;

  // The one condition for touching a step that updates the model.
  bool ProvenFor(uint32_t batches) const {
    return !rejected && passed >= batches && signature == probed_signature;
  }

  // A run under another signature is another variant in all but name: its proof is void.
  // True where that happened.
  bool ObserveSignature(const Digest& observed) {
    if (observed == signature) return false;
    signature = observed;
    passed = 0;
    return true;
  }

  void CountPass() {
    if (probed_signature != signature) {
      probed_signature = signature;
      passed = 0;
    }
    ++passed;
  }
};

// At most kMaxVariants. Session's thread.
class VariantTable {
 public:
  Variant* Find(uint32_t id) {
    for (Variant& variant : variants_) {
      if (variant.id == id) return &variant;
    }
    return nullptr;
  }
  bool HoldsHandle(uint64_t handle) const {
    for (const Variant& variant : variants_) {
      if (variant.handle == handle) return true;
    }
    return false;
  }
  bool full() const { return variants_.size() >= kMaxVariants; }
  size_t size() const { return variants_.size(); }

  // Pointers from Find are void after Add, Take and TakeAll.
  void Add(Variant variant) { variants_.push_back(std::move(variant)); }
  bool Take(uint32_t id, Variant& taken) {
    for (size_t i = 0; i < variants_.size(); ++i) {
      if (variants_[i].id != id) continue;
      taken = std::move(variants_[i]);
      variants_.erase(variants_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }
  std::vector<Variant> TakeAll() { return std::exchange(variants_, {}); }

 private:
  std::vector<Variant> variants_;
};

}  // namespace blazed::shim
