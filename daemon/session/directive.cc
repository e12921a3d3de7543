#include "daemon/session/directive.h"

#include <algorithm>

namespace blazed::session {

planner::DirectiveId IdOf(const Outbound& directive) {
  if (const auto* build = std::get_if<planner::BuildVariant>(&directive)) return build->build;
  if (const auto* probe = std::get_if<planner::ProbeVariants>(&directive)) return probe->probe;
  if (const auto* lease = std::get_if<planner::RunPairs>(&directive)) return lease->lease;
  if (const auto* adopt = std::get_if<planner::Adopt>(&directive)) return adopt->adopt;
  return 0;
}

bool Names(const Outbound& directive, planner::VariantId variant) {
  if (const auto* build = std::get_if<planner::BuildVariant>(&directive)) {
    return build->variant == variant || build->rebuild_of == variant;
  }
  if (const auto* probe = std::get_if<planner::ProbeVariants>(&directive)) {
    return std::find(probe->variants.begin(), probe->variants.end(), variant) !=
           probe->variants.end();
  }
  if (const auto* lease = std::get_if<planner::RunPairs>(&directive)) {
    return lease->champion == variant || lease->challenger == variant;
  }
  if (const auto* adopt = std::get_if<planner::Adopt>(&directive)) {
    return adopt->variant == variant;
  }
  const auto* drop = std::get_if<planner::DropVariant>(&directive);
  return drop != nullptr && drop->variant == variant;
}

}  // namespace blazed::session
