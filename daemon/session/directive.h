// What a directive says about itself.
#pragma once

#include "daemon/planner/types.h"
#include "daemon/session/messages.h"

namespace blazed::session {

// The id that its answer names; 0 where none is expected.
planner::DirectiveId IdOf(const Outbound& directive);

// Whether it is about this variant: builds, tears down, probes, runs, adopts or drops it.
bool Names(const Outbound& directive, planner::VariantId variant);

}  // namespace blazed::session
