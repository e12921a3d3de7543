#include "daemon/planner/counted.h"

namespace blazed::planner {

std::string Counted(uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + " " + std::string(noun);
  return count == 1 ? text : text + "s";
}

}  // namespace blazed::planner
