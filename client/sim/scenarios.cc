#include "client/sim/scenarios.h"

#include "client/sim/host_scenarios.h"
#include "client/sim/race_scenarios.h"

namespace blazed::sim {

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> kAll = {
      {"aa", "equal plans raced under continuous looking, six kinds of noise", 2000, RunAa},
      {"power", "true wins of 0.5 to 5 % in a search race", 2000, RunPower},
      {"search", "whole tunings of drawn workloads, 5 to 134 boundaries", 40, RunSearch},
      {"null", "whole tunings where nothing is faster", 40, RunNull},
      {"evaporate", "equal plans whose times differ between builds", 100, RunEvaporate},
      {"carry", "equal plans, and a default that pays after each switch", 100, RunCarry},
      {"drift", "a settled win that turns into a loss", 20, RunDrift},
  };
  return kAll;
}

}  // namespace blazed::sim
