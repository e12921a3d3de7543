// Step times from a table, for tests in which a search must come to its answer whatever the machine
// is busy with.
//
// Stands between a host and libblazed: it takes the place of blz_attach, blz_step_begin and
// blz_step_end, hands each on to the library, and lets the library's clock go by the table while it
// is inside the latter two. All else is as it is: host, shim, socket, daemon, builds and probes.
// Linked into a test program it serves the sessions of that program; as the library `steady_steps`,
// named by LD_PRELOAD, the sessions of a program that knows nothing of it.
//
// The table: a step of the default plan takes 100 us. Under another plan each decision of an even
// number that is not at its default saves 4 %, each of an odd number costs 2 %. A unit of one step
// strays by 0.2 %, drawn from a fixed seed.
#pragma once

#include "blazed/blazed.h"

namespace blazed::fakes {

// Sessions attached by this thread during its life follow the table. One at a time a thread.
class SteadySteps {
 public:
  SteadySteps();
  ~SteadySteps();
  SteadySteps(const SteadySteps&) = delete;
  SteadySteps& operator=(const SteadySteps&) = delete;

  // What the shim counted for the session attached last; zero before.
  blz_status_info Status() const;
};

}  // namespace blazed::fakes
