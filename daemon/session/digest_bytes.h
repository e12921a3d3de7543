// The digest behind all fingerprints that the daemon makes: XXH3-128 in its canonical, big-endian
// form, the same on every machine. Pure.
#pragma once

#include <string_view>

#include "daemon/planner/types.h"

namespace blazed::session {

planner::Digest DigestBytes(std::string_view bytes);

}  // namespace blazed::session
