#include "daemon/planner/counted.h"

#include <charconv>

namespace blazed::planner {

std::string Counted(uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + " " + std::string(noun);
  return count == 1 ? text : text + "s";
}

std::string SecondsText(Nanos span) {
  char text[32];
  const double seconds = static_cast<double>(span.count()) / 1e9;
  // Not printf: its point depends on the locale of the process.
  const auto end = std::to_chars(text, text + sizeof(text), seconds, std::chars_format::fixed, 1);
  return std::string(text, end.ptr) + " s";
}

}  // namespace blazed::planner
