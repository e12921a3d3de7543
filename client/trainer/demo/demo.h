#pragma once

#include "absl/status/status.h"
#include "client/trainer/demo/demo_options.h"

namespace blazed::trainer {

// Starts `blazed` from the folder of this program, runs `blaze-train` twice against it as two
// processes of one job, and shows and writes what both found. Whatever happens, everything that it
// started has ended when it returns.
//
// Errors: each one sentence; where the daemon died, with the tail of its log. CANCELLED after a
// signal: the report then holds the jobs that ended.
absl::Status RunDemo(const DemoOptions& options);

}  // namespace blazed::trainer
