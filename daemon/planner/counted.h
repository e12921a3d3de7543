// Counts and times in sentences for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/planner/types.h"

namespace blazed::planner {

// "1 pair", "2 pairs".
std::string Counted(uint64_t count, std::string_view noun);

// "20.6 s".
std::string SecondsText(Nanos span);

}  // namespace blazed::planner
