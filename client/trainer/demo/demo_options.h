#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "client/trainer/command_line.h"
#include "client/trainer/demo/private_place.h"

namespace blazed::trainer {

struct DemoOptions {
  std::string workload = "attention";
  std::vector<std::string> texts;  // empty: the texts Debian ships
  std::string contract = "rounding";
  uint64_t seed = 1;
  int64_t steps = 200'000;  // at most, a job
  double minutes = 3;       // at most, both jobs
  std::string report;       // path; empty: no file
  Keep keep = Keep::kNo;
};

std::variant<DemoOptions, Ending> ParseDemoCommandLine(int argc, const char* const* argv);

}  // namespace blazed::trainer
