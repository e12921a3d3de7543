// A program that is started with this library in LD_PRELOAD trains by the table from its first step
// on, where its main thread is the one that attaches.
#include "tests/fakes/steady_steps.h"

namespace {

// Never destroyed: the clock is read until the very end. Kept, though nothing reads it, so that it
// is no leak.
[[gnu::used]] const auto* const from_the_start = new blazed::fakes::SteadySteps;

}  // namespace
