// Recorded step times and plan tables (tests/data/README.md says where they come from); the program
// carries them inside itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/sim/cost_table.h"

namespace blazed::sim {

// Name and text of each recorded file; made by the build.
const std::vector<std::pair<std::string, std::string>>& RecordedFiles();

// Neighbouring steps of the default plan, in ns; the first step of each group is left out, because
// it pays for a drained queue.
struct RecordedSteps {
  std::string name;
  std::vector<std::vector<double>> groups;
};
std::vector<RecordedSteps> ReadRecordedSteps();

// A plan table as a space of two choices: how the step is launched (as a loop, as one graph), and
// which of the recorded plans runs. Medians of what was recorded are taken for the truth.
struct RecordedPlans {
  std::string name;
  CostTable table;
  double default_step_ns = 0;
  double build_ns = 0;  // median
};
std::vector<RecordedPlans> ReadRecordedPlans();

}  // namespace blazed::sim
