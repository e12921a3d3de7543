// Confirm: what ran decides, not what was asked. Keeps one plan for each signature seen.
#pragma once

#include <map>
#include <set>

#include "daemon/planner/space.h"
#include "daemon/planner/types.h"

namespace blazed::planner {

enum class Finding { kDistinct, kDuplicate, kNotHonoured };

struct Confirmation {
  Finding finding = Finding::kDistinct;
  Plan twin;  // the plan that ran the same; meaningful unless distinct
};

class SignatureTable {
 public:
  explicit SignatureTable(const Space* space) : space_(space) {}

  // The default's signature; a different one than before forgets everything that was learned under
  // it. Returns true where that happened.
  bool SetDefault(const Digest& signature);

  // Files a plan under what it ran as. The first plan of a signature stands for all later ones.
  Confirmation Confirm(const Plan& plan, const Digest& signature);

  // A toggle that left the signature unchanged wherever it was tried alone, and was tried at least
  // once.
  bool NoOp(size_t toggle) const { return idle_.contains(toggle) && !active_.contains(toggle); }
  bool Known(const Plan& plan) const { return signature_of_.contains(plan); }

 private:
  void Attribute(const Plan& plan, const Digest& signature);

  const Space* space_;
  Digest default_{};
  std::map<Digest, Plan> first_;
  std::map<Plan, Digest> signature_of_;
  std::set<size_t> idle_, active_;
};

}  // namespace blazed::planner
