// blaze-sim's command line.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "client/sim/scenarios.h"

namespace blazed::sim {

struct SimOptions {
  const Scenario* scenario = nullptr;  // of Scenarios(); null: `ask`
  bool ask = false;                    // answer lines of standard input (ask.h)
  Request request;                     // runs 0: the scenario's own count
  bool json = false;
  bool check = false;  // one line for each bar, and exit 1 where one is missed
};

// How the program ends without running anything.
struct Farewell {
  int code = 0;  // 0: `text` answers, for standard output; 2: wrong usage, for standard error
  std::string text;
};

std::variant<SimOptions, Farewell> ParseSimCommandLine(int argc, const char* const* argv);

}  // namespace blazed::sim
