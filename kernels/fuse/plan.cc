#include "kernels/fuse/plan.h"

namespace blazed::fuse {

std::string PlanText(const Plan& plan) {
  if (plan.empty()) return "default";
  std::string text;
  for (const PlanEntry& entry : plan) {
    if (!text.empty()) text.push_back(' ');
    text += std::to_string(entry.decision) + "=" + std::to_string(entry.option);
  }
  return text;
}

}  // namespace blazed::fuse
