// The plan space of a workload: which plans are legal, how they are written, and their encoding as
// toggles.
//
// A toggle is one non-default option of one decision. Toggles of one decision share a slot: at most
// one is on. Immutable once built; owned by the Tuning.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/planner/types.h"

namespace blazed::planner {

struct Toggle {
  uint32_t decision = 0;
  uint32_t option = 0;  // never 0
  bool operator==(const Toggle&) const = default;
};

// One byte a toggle, 1 where it is on.
using Toggles = std::vector<uint8_t>;

class Space {
 public:
  // Beyond these sizes a search would not end within a job; the decisions with most sites are kept.
  static constexpr size_t kMaxToggles = 384;
  static constexpr size_t kMaxTogglesWithPairs = 192;

  Space(WorkloadSpec spec, Contract contract);

  const WorkloadSpec& spec() const { return spec_; }
  size_t size() const { return toggles_.size(); }
  const Toggle& toggle(size_t i) const { return toggles_[i]; }

  // Toggles whose effects may depend on each other: neighbouring boundaries of one graph.
  const std::vector<std::pair<uint32_t, uint32_t>>& neighbours() const { return neighbours_; }
  // The pairs that a toggle is in.
  struct PairWith {
    uint32_t other = 0;  // toggle
    uint32_t pair = 0;   // place in neighbours()
  };
  const std::vector<PairWith>& PairsOf(size_t i) const { return pairs_of_[i]; }

  // Sorted, without defaults, each decision once and with one of its options.
  bool Valid(const Plan& plan) const;

  // "name=option name=option", or "default". For people and reasons.
  std::string Text(const Plan& plan) const;

  // Encoding over the searched toggles. A plan with a choice outside of them keeps only those
  // inside.
  Toggles Encode(const Plan& plan) const;
  Plan Decode(const Toggles& on) const;

  // Turns toggle i on (its slot's other toggle goes off) or off.
  void Set(Toggles& on, size_t i, bool value) const;
  // The other toggles of i's slot.
  const std::vector<uint32_t>& SlotOf(size_t i) const { return slots_[toggles_[i].decision]; }

  // Stable 64-bit hash of the searched space; guards a saved search state.
  uint64_t Hash() const;

 private:
  void ChooseToggles(Contract contract);
  void FindNeighbours();

  WorkloadSpec spec_;
  std::vector<Toggle> toggles_;
  std::vector<std::vector<uint32_t>> slots_;  // by decision: its toggles
  std::vector<std::pair<uint32_t, uint32_t>> neighbours_;
  std::vector<std::vector<PairWith>> pairs_of_;  // by toggle
};

// Stable 64-bit FNV-1a hash of a plan.
uint64_t HashPlan(const Plan& plan);

}  // namespace blazed::planner
