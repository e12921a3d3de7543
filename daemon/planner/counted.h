// Counts in sentences for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace blazed::planner {

// "1 pair", "2 pairs".
std::string Counted(uint64_t count, std::string_view noun);

}  // namespace blazed::planner
