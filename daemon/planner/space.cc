#include "daemon/planner/space.h"

#include <algorithm>
#include <numeric>

namespace blazed::planner {
namespace {

class Fnv {
 public:
  void Add(uint64_t value) {
    for (int i = 0; i < 8; ++i) {
      hash_ = (hash_ ^ (value & 0xff)) * 0x100000001b3ULL;
      value >>= 8;
    }
  }
  void Add(const Digest& digest) {
    for (uint8_t byte : digest) hash_ = (hash_ ^ byte) * 0x100000001b3ULL;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace

Space::Space(WorkloadSpec spec, Contract contract) : spec_(std::move(spec)) {
  ChooseToggles(contract);
  FindNeighbours();
}

// Under `bitwise` an option that re-orders sums cannot pass its probes, so it is not worth a build.
void Space::ChooseToggles(Contract contract) {
  std::vector<uint32_t> order(spec_.decisions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return spec_.decisions[a].sites > spec_.decisions[b].sites;
  });
  std::vector<uint32_t> kept;
  size_t count = 0;
  for (uint32_t d : order) {
    const DecisionSpec& decision = spec_.decisions[d];
    if (decision.options.size() < 2) continue;
    if (contract == Contract::kBitwise && decision.reorders_sums) continue;
    const size_t options = decision.options.size() - 1;
    if (count + options > kMaxToggles) continue;
    count += options;
    kept.push_back(d);
  }
  std::sort(kept.begin(), kept.end());
  slots_.resize(spec_.decisions.size());
  for (uint32_t d : kept) {
    for (uint32_t o = 1; o < spec_.decisions[d].options.size(); ++o) {
      slots_[d].push_back(static_cast<uint32_t>(toggles_.size()));
      toggles_.push_back({d, o});
    }
  }
}

void Space::FindNeighbours() {
  pairs_of_.resize(toggles_.size());
  if (toggles_.size() > kMaxTogglesWithPairs) return;
  for (uint32_t d = 0; d + 1 < spec_.decisions.size(); ++d) {
    const DecisionSpec &a = spec_.decisions[d], &b = spec_.decisions[d + 1];
    if (a.kind != DecisionKind::kBoundary || b.kind != DecisionKind::kBoundary) continue;
    if (a.graph != b.graph || slots_[d].size() != 1 || slots_[d + 1].size() != 1) continue;
    const auto pair = static_cast<uint32_t>(neighbours_.size());
    const uint32_t one = slots_[d][0], other = slots_[d + 1][0];
    neighbours_.emplace_back(one, other);
    pairs_of_[one].push_back({other, pair});
    pairs_of_[other].push_back({one, pair});
  }
}

bool Space::Valid(const Plan& plan) const {
  for (size_t i = 0; i < plan.size(); ++i) {
    const Choice& c = plan[i];
    if (c.decision >= spec_.decisions.size() || c.option == 0) return false;
    if (c.option >= spec_.decisions[c.decision].options.size()) return false;
    if (i > 0 && plan[i - 1].decision >= c.decision) return false;
  }
  return true;
}

std::string Space::Text(const Plan& plan) const {
  if (plan.empty()) return "default";
  std::string text;
  for (const Choice& c : plan) {
    if (!text.empty()) text += ' ';
    if (c.decision >= spec_.decisions.size() ||
        c.option >= spec_.decisions[c.decision].options.size()) {
      text += "?";
      continue;
    }
    const DecisionSpec& d = spec_.decisions[c.decision];
    text += d.name + "=" + d.options[c.option];
  }
  return text;
}

Toggles Space::Encode(const Plan& plan) const {
  Toggles on(toggles_.size(), 0);
  for (const Choice& c : plan) {
    if (c.decision >= slots_.size()) continue;
    for (uint32_t i : slots_[c.decision]) {
      if (toggles_[i].option == c.option) on[i] = 1;
    }
  }
  return on;
}

Plan Space::Decode(const Toggles& on) const {
  Plan plan;
  for (size_t i = 0; i < on.size(); ++i) {
    if (on[i]) plan.push_back({toggles_[i].decision, toggles_[i].option});
  }
  return plan;
}

void Space::Set(Toggles& on, size_t i, bool value) const {
  if (value) {
    for (uint32_t other : SlotOf(i)) on[other] = 0;
  }
  on[i] = value ? 1 : 0;
}

uint64_t Space::Hash() const {
  Fnv fnv;
  fnv.Add(spec_.fingerprint);
  for (const Toggle& t : toggles_) {
    fnv.Add(spec_.decisions[t.decision].id);
    fnv.Add(t.option);
  }
  fnv.Add(neighbours_.size());
  return fnv.value();
}

uint64_t HashPlan(const Plan& plan) {
  Fnv fnv;
  for (const Choice& c : plan) fnv.Add((uint64_t{c.decision} << 32) | c.option);
  return fnv.value();
}

}  // namespace blazed::planner
