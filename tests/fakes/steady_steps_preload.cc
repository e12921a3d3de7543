// A program that is started with this library in LD_PRELOAD trains by the table from its first step
// on, where its main thread is the one that attaches.
#include "tests/fakes/steady_steps.h"

namespace {

// Never destroyed: the clock is read until the very end.
const auto* const from_the_start = new blazed::fakes::SteadySteps;

}  // namespace
