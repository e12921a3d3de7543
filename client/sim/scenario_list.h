// One function for each scenario; the list of them is in scenarios.cc.
#pragma once

#include "client/sim/scenarios.h"

namespace blazed::sim {

Scenario AaScenario();
Scenario PowerScenario();
Scenario SearchScenario();
Scenario NullScenario();
Scenario EvaporateScenario();
Scenario CarryScenario();
Scenario DriftScenario();
Scenario QueueScenario();
Scenario ReplayScenario();
Scenario BuildsScenario();
Scenario JobsScenario();
Scenario TailsScenario();
Scenario RestartScenario();
Scenario CompareScenario();

}  // namespace blazed::sim
