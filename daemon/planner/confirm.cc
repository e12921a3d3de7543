#include "daemon/planner/confirm.h"

namespace blazed::planner {

bool SignatureTable::SetDefault(const Digest& signature) {
  if (signature_of_.contains(Plan{}) && default_ == signature) return false;
  const bool changed = signature_of_.contains(Plan{});
  first_.clear();
  signature_of_.clear();
  idle_.clear();
  active_.clear();
  default_ = signature;
  first_[signature] = Plan{};
  signature_of_[Plan{}] = signature;
  return changed;
}

Confirmation SignatureTable::Confirm(const Plan& plan, const Digest& signature) {
  if (plan.empty()) return {};
  if (auto seen = signature_of_.find(plan); seen != signature_of_.end()) {
    // Another process may compile the plan differently; the last run is what holds.
    auto owner = first_.find(seen->second);
    if (seen->second != signature && owner != first_.end() && owner->second == plan) {
      first_.erase(owner);
    }
  }
  signature_of_[plan] = signature;
  Attribute(plan, signature);
  const auto [owner, fresh] = first_.try_emplace(signature, plan);
  if (fresh || owner->second == plan) return {};
  const bool is_default = owner->second.empty();
  return {is_default ? Finding::kNotHonoured : Finding::kDuplicate, owner->second};
}

// Compares the plan with each known plan that lacks exactly one of its choices.
void SignatureTable::Attribute(const Plan& plan, const Digest& signature) {
  const Toggles on = space_->Encode(plan);
  for (size_t i = 0; i < plan.size(); ++i) {
    Plan without = plan;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    const auto known = signature_of_.find(without);
    if (known == signature_of_.end()) continue;
    for (size_t t = 0; t < on.size(); ++t) {
      if (space_->toggle(t) != Toggle{plan[i].decision, plan[i].option}) continue;
      (known->second == signature ? idle_ : active_).insert(t);
    }
  }
}

}  // namespace blazed::planner
