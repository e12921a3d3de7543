// blaze-sim's command line.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "client/sim/scenarios.h"

namespace blazed::sim {

struct SimOptions {
  const Scenario* scenario = nullptr;  // of Scenarios()
  uint64_t runs = 0;                   // 0: the scenario's own count
  uint64_t seed = 1;
  bool json = false;
};

// How the program ends without running anything.
struct Farewell {
  int code = 0;  // 0: `text` answers, for standard output; 2: wrong usage, for standard error
  std::string text;
};

std::variant<SimOptions, Farewell> ParseSimCommandLine(int argc, const char* const* argv);

}  // namespace blazed::sim
